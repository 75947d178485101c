//===- SlicePipeline.h - what leaves while slices run -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a slice computes, the next ones' chunks arrive, for which others have
// to leave. A chunk that is copied out only when its memory is needed makes the
// arrival wait: one direction of the link idles while the other works. So the
// next slices' evictions are worked out in advance, by the same policy on the
// state as it will be, and what they will copy out is copied out now. Once that
// is done and no work uses it any more, it gives its memory to what comes next,
// which is fetched then: both directions of the link are busy while the slices
// in between compute. All of it moves as much as it would have later. What the
// next slices need from files and swap is read meanwhile.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SLICEPIPELINE_H
#define DRAGON_RUNTIME_LAUNCH_SLICEPIPELINE_H

#include "runtime/launch/SliceUses.h"
#include "runtime/memory/Residency.h"

namespace dragon {

class SlicePipeline {
public:
  SlicePipeline(Context &context, WorkTracker &time, ReadAhead &reads,
                DeviceChunks &deviceChunks, Residency &resident)
      : Ctx(context), Time(time), Reads(reads), OnDevice(deviceChunks),
        Resident(resident) {}

  /// Queues the copies of what the slices from `next` on will evict, and of
  /// what they need and has room.
  Status prepare(const SliceUses &uses, size_t next);

private:
  class Preview;

  Context &Ctx;
  WorkTracker &Time;
  ReadAhead &Reads;
  DeviceChunks &OnDevice;
  Residency &Resident;
  uint64_t Preparation = 0; ///< calls of prepare()
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SLICEPIPELINE_H
