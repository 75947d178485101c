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
// each one is as large as the slices before let expect. Between them all frames
// become free. A slice for which they are too few is as if it had not run, and
// runs again in smaller ones, if what it wrote besides frames does not matter;
// a single block ends the launch with an error then.
//
// With the runtime's lock held.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_STORAGERUNNER_H
#define DRAGON_RUNTIME_LAUNCH_STORAGERUNNER_H

#include "runtime/launch/AccessCounting.h"
#include "runtime/launch/SlicePlanner.h"
#include "runtime/launch/StoredPages.h"
#include "runtime/memory/Contents.h"
#include "runtime/memory/Residency.h"

#include <vector>

namespace dragon {

/// The blocks of a grid, some at a time, in their order.
class BlockRuns {
public:
  explicit BlockRuns(const uint32_t grid[3])
      : Grid{grid[0], grid[1], grid[2]} {}
  /// About so many of the next blocks, and one at least; in a box.
  BlockBox next(uint64_t blocks);
  bool done() const { return At[2] >= Grid[2]; }
  /// The last box comes again, in other ones.
  void again(const BlockBox &box);

private:
  uint32_t Grid[3];
  uint32_t At[3] = {0, 0, 0};
};

/// How many blocks should find frames for their pages.
class BlocksAtOnce {
public:
  /// `again`: a slice for which they are too few may run again. Else it never
  /// has more blocks than the first one.
  BlocksAtOnce(uint64_t frames, uint64_t blockThreads, bool again);
  uint64_t blocks() const { return Blocks; }
  /// A slice of so many blocks took so many frames.
  void took(uint64_t frames, uint64_t blocks);

private:
  uint64_t Wanted; ///< frames that a slice should take
  uint64_t Blocks;
  uint64_t Most; ///< of blocks
};

class StorageRunner {
public:
  StorageRunner(Context &context, WorkTracker &time, HostSlabs &slabs,
                HostMemory &host, StorageIo &store, Contents &data,
                DeviceChunks &deviceChunks, Residency &resident,
                Submitter &submit, AccessCounting &counting, PageCache &pages,
                SlicePlanner &plans)
      : Ctx(context), Time(time), Slabs(slabs), Host(host), Data(data),
        OnDevice(deviceChunks), Resident(resident), Submit(submit),
        Counting(counting), Pages(pages), Plans(plans),
        Stored(context, slabs, host, store) {}

  bool canRun(const ResolvedLaunch &launch, const PlannedLaunch &planned) const;
  /// `begun`: some of it has run, also if it fails.
  Status run(const ResolvedLaunch &launch, PlannedLaunch &planned, bool &begun);

private:
  /// The uses of a launch, and of each byte of them, how many are accessed.
  struct Densities {
    std::span<const ChunkUse> uses;
    std::vector<double> of;
    std::vector<size_t> order; ///< the densest first
    /// Of those that are to be on the device.
    uint64_t denseBytes() const;
  };
  Densities densitiesOf(const ResolvedLaunch &launch, PlannedLaunch &planned);
  /// The densest come to the device, as far as they fit.
  Status bringToDevice(const Densities &uses, uint64_t room, Queue queue);
  /// Those of the others of which storage would be asked for most pages, and
  /// those that are not in storage, come to host memory, if it has room.
  Status bringToHost(const Densities &uses);
  /// The uses that are not on the device.
  StatusOr<std::vector<PagedChunk>> elsewhere(const LaunchFootprint &whole);
  Status runSlices(const ResolvedLaunch &launch, const LaunchFootprint &whole,
                   std::span<const PagedChunk> others, bool &begun);
  Status outOfFrames(const LaunchCall &launch, uint64_t blocks) const;
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
  StoredPages Stored;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_STORAGERUNNER_H
