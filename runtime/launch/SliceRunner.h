//===- SliceRunner.h - running slices one after the other -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While the device runs one slice, the host evicts what the slice before used
// and issues the copies for the next.
//
// What the whole launch surely overwrites need not be fetched for any slice.
// Whether a chunk is written is recorded after the launch was accepted, so that
// one that the device refuses changes nothing.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SLICERUNNER_H
#define DRAGON_RUNTIME_LAUNCH_SLICERUNNER_H

#include "runtime/launch/LaunchKey.h"
#include "runtime/launch/LoopState.h"
#include "runtime/launch/SlicePipeline.h"
#include "runtime/launch/SliceQueues.h"
#include "runtime/launch/Submitter.h"
#include "runtime/memory/Discards.h"

#include <unordered_set>

namespace dragon {

class SliceRunner {
public:
  SliceRunner(Context &context, WorkTracker &time, Contents &data,
              DeviceChunks &deviceChunks, Residency &resident,
              Discards &discards, Submitter &submit, SlicePipeline &pipeline,
              LoopState &loopState)
      : Ctx(context), Time(time), Data(data), OnDevice(deviceChunks),
        Resident(resident), Discarded(discards), Submit(submit),
        Pipeline(pipeline), State(loopState),
        AtATime(*context.device, time.Work) {}

  Status run(SliceUses &uses);
  /// The device accepted such launches: they will not be refused when nobody
  /// waits for the answer any more.
  bool hasAccepted(const LaunchCall &call) const {
    return Accepted.count(shapeKey(call)) != 0;
  }

private:
  Status runAll(SliceUses &uses, unsigned queues);
  Status runOne(SliceUses &uses, size_t index);
  Status submit(const SliceUses &uses, size_t index, Queue queue);
  Status noteWrites(const SliceUses &uses, size_t index);
  Status noteDeaths(const SliceUses &uses, size_t index, Queue queue);
  Status die(Chunk &chunk, bool overwritten, Queue queue);
  void count(const SliceUses &uses);
  unsigned queuesFor(const SliceUses &uses) const;

  Context &Ctx;
  WorkTracker &Time;
  Contents &Data;
  DeviceChunks &OnDevice;
  Residency &Resident;
  Discards &Discarded;
  Submitter &Submit;
  SlicePipeline &Pipeline;
  LoopState &State;
  BlockBox Panel{}; ///< whose blocks go through the loop
  SliceQueues AtATime;
  std::unordered_set<uint64_t> Accepted; ///< by their shapes
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SLICERUNNER_H
