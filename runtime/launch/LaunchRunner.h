//===- LaunchRunner.h - one launch runs, as planned -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In core, a launch costs a look at each pointer's buffer. Otherwise its chunks
// are planned (SlicePlanner.h) and brought in, slice by slice, or seen in host
// memory.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHRUNNER_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHRUNNER_H

#include "runtime/launch/HostMappedRunner.h"
#include "runtime/launch/LastUses.h"
#include "runtime/launch/StorageRunner.h"

#include <string>
#include <unordered_set>

namespace dragon {

class TraceZone;

class LaunchRunner {
public:
  LaunchRunner(Context &context, WorkTracker &time, AddressSpace &space,
               HostSlabs &slabs, Contents &data, DeviceChunks &deviceChunks,
               NextUses &next, LastUses &ends, Submitter &submit,
               PageCache &pages, SlicePlanner &plans, SliceRunner &slices,
               HostMappedRunner &mapped, StorageRunner &fromStorage)
      : Ctx(context), Time(time), Space(space), Slabs(slabs), Data(data),
        OnDevice(deviceChunks), Next(next), Ends(ends), Submit(submit),
        Pages(pages), Plans(plans), Slices(slices), Mapped(mapped),
        FromStorage(fromStorage) {}

  /// All of its buffers are on the device.
  Status runInCore(const ResolvedLaunch &launch);
  /// The same for work that others queue: `launch` says what it uses.
  Status runInPlace(const ResolvedLaunch &launch, const QueueWork &work);
  /// Runs it now, on its own, and ends the contents that it uses last.
  Status run(const ResolvedLaunch &launch, PlannedLaunch &planned);

private:
  /// Again where the driver gave less device memory than the plan was made
  /// for, before anything of the launch ran.
  Status runAsOftenPlanned(const ResolvedLaunch &launch,
                           PlannedLaunch &planned);
  /// What no plan has room for. `refused`: why; `room`: the memory that is too
  /// little.
  Status runFromStorage(const ResolvedLaunch &launch, PlannedLaunch &planned,
                        Status refused, const PlannedLaunch::Room &room);
  Status runAsPlanned(const ResolvedLaunch &launch, PlannedLaunch &planned);
  /// The kernel's copy that fetches pages runs, if it can.
  bool fetchesPages(const LaunchCall &call, const LaunchPlan &plan) const;
  /// What its slices need follows from arrays of indices, and conditions on
  /// other data decide how much of that they touch.
  bool mayTouchLess(const ResolvedLaunch &launch,
                    const PlannedLaunch &planned) const;
  Status runSlices(const ResolvedLaunch &launch, PlannedLaunch &planned,
                   const Slicing &slicing, bool mayTouchLess);
  /// All at once, whatever the budget: on a device that migrates, what it has
  /// no room for leaves by itself.
  Status runBeyondBudget(const ResolvedLaunch &launch, PlannedLaunch &planned,
                         uint64_t wholeBytes);
  /// Says how it runs and why, in the log and in the trace.
  void explain(const LaunchCall &call, PlannedLaunch &planned,
               const LaunchPlan &plan, TraceZone &zone);
  /// When a buffer is used by a launch in core.
  struct UseNote {
    uint64_t clock, epoch, ticket;
    bool tracking;
    void operator()(Buffer &buffer) const;
  };
  StatusOr<UseNote> noteWork(Queue queue);
  /// What of its buffers is on its way to the device comes first.
  Status waitForFetches(const ResolvedLaunch &launch);
  /// A launch in core uses its buffers, and writes them.
  Status noteUses(const ResolvedLaunch &launch, const LaunchFootprint &chunks);
  Status noteUses(const ResolvedLaunch &launch);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  HostSlabs &Slabs;
  Contents &Data;
  DeviceChunks &OnDevice;
  NextUses &Next;
  LastUses &Ends;
  Submitter &Submit;
  PageCache &Pages;
  SlicePlanner &Plans;
  SliceRunner &Slices;
  HostMappedRunner &Mapped;
  StorageRunner &FromStorage;
  std::unordered_set<std::string> Said; ///< in the log, of how launches run
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHRUNNER_H
