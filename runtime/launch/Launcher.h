//===- Launcher.h - the way of a launch through the runtime -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its pointers are resolved, its footprint is looked up or evaluated; then it
// waits for others to run together with (WaveRunner.h), or runs
// (LaunchRunner.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHER_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHER_H

#include "runtime/launch/WaveRunner.h"

namespace dragon {

class Launcher {
public:
  Launcher(Context &context, AddressSpace &space, DeviceChunks &deviceChunks,
           NextUses &next, LastUses &ends, DriverHints &hints,
           AccessCounting &counting, SlicePlanner &plans,
           LaunchRunner &launches, WaveRunner &waves)
      : Ctx(context), Space(space), OnDevice(deviceChunks), Next(next),
        Ends(ends), Hints(hints), Counting(counting), Plans(plans),
        Single(launches), Waves(waves) {}

  Status launch(const LaunchCall &call);
  /// Runs what waits.
  Status runWaiting() { return Waves.runAll(); }
  /// Ranges that the launch may write.
  std::vector<AddressRange> mayWrite(const LaunchCall &call);
  /// How many bytes from the beginning of the buffer at `address` the launch
  /// would overwrite before any read, in whole chunks; SIZE_MAX if all. 0 if no
  /// data is moving.
  size_t overwritten(const LaunchCall &call, uintptr_t address);
  /// Such a launch would read nothing below the pointer that lies at `field` in
  /// its argument, wherever that points. Needs no lock.
  static bool readsUpwards(const LaunchCall &call, uint32_t argument,
                           uint32_t field);

private:
  Status launchOutOfCore(const LaunchCall &call, const LaunchPointers &pointers,
                         bool canWait);
  bool isInCore(const LaunchPointers &pointers) const;

  Context &Ctx;
  AddressSpace &Space;
  DeviceChunks &OnDevice;
  NextUses &Next;
  LastUses &Ends;
  DriverHints &Hints;
  AccessCounting &Counting;
  SlicePlanner &Plans;
  LaunchRunner &Single;
  WaveRunner &Waves;
  LaunchPointers Reached; ///< of the launch that is being made
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHER_H
