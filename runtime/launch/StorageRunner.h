//===- StorageRunner.h - launches beyond device and host memory -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch of which no slice fits, into device and host memory together: what
// its addresses are is not known, so it may need everything. Or what it updates
// atomically does not fit into device memory. It runs as the copy that fetches
// pages (PageCache.h). What of it is in storage alone stays there, and the
// kernel asks for its pages (StoredPages.h).
//
// Pages that need a frame must find one: so the grid runs in slices, of which
// each one is as large as the slices before let expect (StorageParts.h).
// Between them all frames become free. A slice for which they are too few is as
// if it had not run, and runs again in smaller ones, if what it wrote besides
// frames does not matter. For the smallest there is the frames get nearly all
// device memory; if that is too little, the launch ends with an error.
//
// With the runtime's lock held.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_STORAGERUNNER_H
#define DRAGON_RUNTIME_LAUNCH_STORAGERUNNER_H

#include "runtime/launch/AccessCounting.h"
#include "runtime/launch/LoopState.h"
#include "runtime/launch/SlicePlanner.h"
#include "runtime/launch/StorageParts.h"
#include "runtime/launch/StoredPages.h"
#include "runtime/memory/Contents.h"
#include "runtime/memory/Residency.h"

#include <vector>

namespace dragon {

class StorageRunner {
public:
  StorageRunner(Context &context, WorkTracker &time, HostSlabs &slabs,
                HostMemory &host, StorageIo &store, Contents &data,
                DeviceChunks &deviceChunks, Residency &resident,
                Submitter &submit, AccessCounting &counting, PageCache &pages,
                SlicePlanner &plans, LoopState &loops)
      : Ctx(context), Time(time), Slabs(slabs), Host(host), Data(data),
        OnDevice(deviceChunks), Resident(resident), Submit(submit),
        Counting(counting), Pages(pages), Plans(plans), Loops(loops),
        Stored(context, slabs, host, store) {}

  bool canRun(const ResolvedLaunch &launch, const PlannedLaunch &planned) const;
  /// `begun`: some of it has run, also if it fails.
  Status run(const ResolvedLaunch &launch, PlannedLaunch &planned, bool &begun);

private:
  /// Of each byte of a launch's uses, how many are accessed.
  struct Densities {
    std::vector<double> of;
    std::vector<size_t> order; ///< the densest first
    uint64_t denseBytes;       ///< of those that are to be on the device
  };
  struct Work {
    const ResolvedLaunch &launch;
    const PlannedLaunch &planned;
    LaunchFootprint whole;
    const Densities &densities;
    /// A part that finds too few frames runs again: then these uses are in
    /// frames alone.
    const std::vector<bool> &undo;
    bool repeats;
    StorageParts &parts;
    bool &begun;
  };
  Densities densitiesOf(const ResolvedLaunch &launch, PlannedLaunch &planned);
  /// Of the device's memory, for what the launch accesses.
  uint64_t deviceRoom(const PlannedLaunch &planned) const;
  /// The iterations of the loop along which parts are cut; 0: none is.
  uint32_t beginLoop(const ResolvedLaunch &launch);
  uint64_t blocksOfPanel(const LaunchCall &launch) const;
  /// Until it is done, or the smallest part finds too few frames.
  Status runParts(Work &work, TraceZone &zone);
  /// The densest come to the device, as far as they fit.
  Status bringToDevice(const Work &work, uint64_t room);
  /// Those of the others of which storage would be asked for most pages, and
  /// those that are not in storage, come to host memory, if it has room.
  Status bringToHost(const Work &work);
  /// The uses that are not on the device.
  StatusOr<std::vector<PagedChunk>> elsewhere(const LaunchFootprint &whole);
  Status runSlices(Work &work, std::span<const PagedChunk> others);
  Status submit(const ResolvedLaunch &launch, const StorageParts::Part &part,
                PagedArguments &with, bool repeats);
  Status outOfFrames(const LaunchCall &launch,
                     const StorageParts::Part &part) const;
  Status noteWrites(const LaunchFootprint &whole,
                    std::span<const PagedChunk> others);

  Context &Ctx;
  WorkTracker &Time;
  HostSlabs &Slabs;
  HostMemory &Host;
  Contents &Data;
  DeviceChunks &OnDevice;
  Residency &Resident;
  Submitter &Submit;
  AccessCounting &Counting;
  PageCache &Pages;
  SlicePlanner &Plans;
  LoopState &Loops;
  StoredPages Stored;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_STORAGERUNNER_H
