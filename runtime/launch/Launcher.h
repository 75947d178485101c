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
// A launch for which nothing has to move, and which takes nothing from where it
// is, needs the lock's `state` alone (base/RuntimeLock.h), and so goes on while
// another thread waits for files in the middle of a move. The agreement:
//
//   the launch   reads buffers all of whose chunks are on the device, writes
//                those whose contents are nowhere else, and leaves alone what
//                is Buffer::moving. It changes the clock and the history, when
//                chunks were used last, and what of the chunks is defined.
//   the mover    settles chunks behind its last wait, before it unmaps them or
//                takes their contents; or it marks the buffer as moving.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHER_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHER_H

#include "runtime/launch/ComputedContents.h"
#include "runtime/launch/IndexArrays.h"
#include "runtime/launch/LibraryCalls.h"
#include "runtime/launch/LoopEnds.h"
#include "runtime/launch/WaveRunner.h"

#include <optional>
#include <vector>

namespace dragon {

class Launcher {
public:
  Launcher(Context &context, WorkTracker &time, AddressSpace &space,
           Contents &data, DeviceChunks &deviceChunks, NextUses &next,
           LastUses &ends, DriverHints &hints, AccessCounting &counting,
           SlicePlanner &plans, LaunchRunner &launches, WaveRunner &waves,
           FetchAhead &ahead, IndexArrays &indices, ComputedContents &computed)
      : Ctx(context), Time(time), Space(space), Data(data),
        OnDevice(deviceChunks), Next(next), Ends(ends), Hints(hints),
        Counting(counting), Plans(plans), Single(launches), Waves(waves),
        Ahead(ahead), Indices(indices), Computed(computed) {}

  /// Any launch, with both parts of the lock.
  Status launch(const LaunchCall &call);
  /// One for which nothing has to move, with `state` alone. Nothing: this is
  /// none, and launch() is to be called.
  std::optional<Status> launchInCore(const LaunchCall &call);
  /// Work that others queue, and what it uses (whole buffers): as above.
  std::optional<Status> runInPlace(const LibraryCall &call,
                                   const QueueWork &work);
  /// What of buffers launches may use, as whole buffers. Nothing: any.
  std::optional<std::vector<LibraryUse>>
  reachOf(std::span<const LaunchCall> launches);
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
  /// What all of its blocks touch.
  LaunchFootprint wholeOf(const ResolvedLaunch &launch);
  Status launchOutOfCore(const ResolvedLaunch &launch, bool canWait);
  void adoptMapped(const ResolvedLaunch &launch);
  bool isInCore(const ResolvedLaunch &launch) const;
  bool leavesAllInPlace(const ResolvedLaunch &launch) const;
  /// It has its place in the order of the program.
  void number(ResolvedLaunch &launch);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  Contents &Data;
  DeviceChunks &OnDevice;
  NextUses &Next;
  LastUses &Ends;
  DriverHints &Hints;
  AccessCounting &Counting;
  SlicePlanner &Plans;
  LaunchRunner &Single;
  WaveRunner &Waves;
  FetchAhead &Ahead;
  IndexArrays &Indices;
  ComputedContents &Computed;
  LoopEnds Loops;
  ResolvedLaunch Current; ///< of launch(), which may wait for files
  ResolvedLaunch InCore;  ///< of launchInCore()
  ResolvedLaunch Foreign; ///< of runInPlace()
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHER_H
