//===- LoopState.h - what threads keep between parts of a loop --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch that is cut along a loop of its kernel runs the kernel's copy for
// that (KernelRecord::LoopName), one range of iterations after the other. What
// its threads and blocks keep in between lies in device memory of the runtime:
// one area, made for the first such launch, made anew for one that needs a
// larger one, and used by one launch at a time.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LOOPSTATE_H
#define DRAGON_RUNTIME_LAUNCH_LOOPSTATE_H

#include "runtime/launch/ResolvedLaunch.h"
#include "runtime/memory/DeviceScratch.h"

#include <cstdint>
#include <vector>

namespace dragon {

/// The arguments of the kernel's copy for some iterations.
class LoopArguments {
public:
  /// Of a box that is part of a panel: consecutive blocks, which go through the
  /// loop together.
  LoopArguments(const LaunchCall &call, uintptr_t state, const BlockBox &box,
                const BlockBox &panel);
  LoopArguments(const LoopArguments &) = delete;
  LoopArguments &operator=(const LoopArguments &) = delete;

  std::span<void *const> all() const { return Args; }

private:
  uint64_t State, Begin, End, First, Blocks;
  uint32_t Dynamic;
  LoopStops Stops;
  std::vector<void *> Args;
};

/// The blocks of a box.
uint64_t blocksOf(const BlockBox &box);

class LoopState {
public:
  LoopState(Context &context, WorkTracker &time, DeviceChunks &deviceChunks)
      : Ctx(context), Time(time), Memory(context, deviceChunks) {
    deviceChunks.addScratch([this] { return drop(); });
  }

  /// The launch can be cut along a loop: its kernel has a copy for that, which
  /// is right for these arguments, and the device takes it.
  bool canCut(const ResolvedLaunch &launch) const;
  /// The same for its copy that fetches pages.
  bool canCutPaged(const ResolvedLaunch &launch) const;
  /// The iterations of all loops along which it is cut; 0: not known, or too
  /// many for a box.
  static uint32_t tripsOf(const LaunchCall &launch);
  /// Device memory that so many blocks of it at a time would take beside what
  /// is there.
  uint64_t bytesToMake(const LaunchCall &call, uint64_t blocks) const;

  /// There is room for what so many blocks of the launch keep, and later work
  /// in its queue may use it. `repeats`: for two of it.
  Status begin(const LaunchCall &call, uint64_t blocks, bool repeats = false);
  /// With room for two: what work in the queue finds now is remembered, and is
  /// there again.
  Status remember(Queue queue);
  Status restore(Queue queue);
  uintptr_t address() const { return Memory.address(); }
  AddressRange range() const { return Memory.range(); }
  /// All of the launch is in its queue.
  Status end(const LaunchCall &call);

  bool any() const { return Memory.any(); }
  /// The memory goes back, once it is idle; false: there was none.
  bool drop();

private:
  uint64_t bytesFor(const LaunchCall &call, uint64_t blocks) const;
  bool canCut(const ResolvedLaunch &launch, const KernelHandle &copy) const;

  Context &Ctx;
  WorkTracker &Time;
  DeviceScratch Memory;
  uint64_t Ticket = 0; ///< of its last use
  uint64_t Bytes = 0;  ///< of what is kept
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LOOPSTATE_H
