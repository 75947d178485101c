//===- PageCache.h - pages that kernels fetch themselves --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frames of device memory into which a kernel's paged copy fetches what it
// accesses, and the table in which it looks (dragon/Paging.h, docs/paging.md).
// Between launches the table is brought up to date: what is on the device now,
// what has other contents. Pages whose contents have not changed stay.
//
// One launch uses it at a time: the next one's queue waits.
//
// With the runtime's lock held.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_PAGECACHE_H
#define DRAGON_RUNTIME_LAUNCH_PAGECACHE_H

#include "dragon/Paging.h"
#include "runtime/launch/LaunchFootprint.h"
#include "runtime/launch/ResolvedLaunch.h"
#include "runtime/launch/Submitter.h"
#include "runtime/memory/DeviceScratch.h"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace dragon {

/// The arguments of a paged copy behind the kernel's own.
struct PageView {
  uint64_t entries = 0, base = 0, count = 0;
  uint32_t shift = 0;
  uint64_t frames = 0, control = 0, cells = 0;
  uint32_t cellShift = 0;
  uint64_t resident = 0; ///< a bit for each argument

  /// As the copy takes them; into this object.
  std::array<void *, 9> arguments() {
    return {&entries, &base,  &count,     &shift,   &frames,
            &control, &cells, &cellShift, &resident};
  }
};

/// A chunk that a launch finds in host memory, and where its first byte is: in
/// its slab, or in the program's memory (memory/ProgramPins.h); 0: it is in
/// storage alone (StoredPages.h).
struct PagedChunk {
  const ChunkUse *use;
  uintptr_t at;
};

/// Whom threads ask for pages of such chunks: as PageControl has it.
struct PagesAsked {
  uint64_t requests = 0; ///< their address; 0: nobody
  bool endsThreads = false;
};

/// A page of such a chunk that the last slice wrote.
struct StoredFrame {
  uint32_t frame;
  uintptr_t address; ///< of the page
};

/// What threads asked the link for.
struct PageCounts {
  uint64_t pages = 0;    ///< that were fetched
  uint64_t requests = 0; ///< of a few bytes each
};

/// What a launch of the copy needs besides its blocks.
class PagedArguments {
public:
  PagedArguments(const LaunchCall &call, const LaunchFootprint &whole,
                 const PageView &view, const AddressRange &frames);
  PagedArguments(const PagedArguments &) = delete;
  PagedArguments &operator=(const PagedArguments &) = delete;
  /// Of this object.
  Submission submission(const BlockBox &box) const {
    return {box, Call.queue, Touched, Anything, &pagedCopyOf(*Call.kernel).copy,
            Args};
  }
  /// Of its copy that runs part of a loop, which has those arguments in front.
  /// Valid until the next one.
  Submission submissionOfLoop(const BlockBox &box,
                              std::span<void *const> arguments);
  /// They use that as well.
  void touch(const AddressRange &range) { Touched.push_back(range); }

private:
  const LaunchCall &Call;
  PageView View;
  std::vector<void *> Args; ///< some point into the view
  std::vector<void *> LoopArgs;
  std::vector<AddressRange> Touched;
  bool Anything;
};

class PageCache {
public:
  static constexpr uint32_t PageShift = 12;
  static constexpr uint64_t PageBytes = uint64_t(1) << PageShift;
  /// A page costs the link as much as so many requests.
  static const uint32_t BreakEven;

  PageCache(Context &context, WorkTracker &time, AddressSpace &space,
            DeviceChunks &deviceChunks)
      : Ctx(context), Time(time), Space(space), OnDevice(deviceChunks),
        Memory(context, deviceChunks) {
    deviceChunks.addScratch([this] { return drop(); });
  }

  /// The launch's kernel has a paged copy, which may run.
  bool canRun(const LaunchCall &call) const;
  /// It may, and is no worse than the kernel that accesses host memory.
  bool isWorth(const LaunchCall &call) const;
  /// Some blocks of the copy can run at a time.
  static bool runsInSlices(const LaunchCall &call);
  /// The device did not take the kernel's copy: it is not tried again.
  void refuse(const LaunchCall &call) { Refused.insert(call.kernel); }

  /// There is device memory for it; it takes a share, once. `stays`: bytes of
  /// the launch that must have room in what is left, as they have now.
  Status make(uint64_t stays);
  /// The same for launches that have no other place for what they access: about
  /// so many bytes, and the usual share at least. What is there and smaller
  /// goes back first.
  Status makeLarge(uint64_t bytes);
  /// Larger than others want it beside them.
  bool isLarge() const { return IsLarge; }
  bool any() const { return Memory.any(); }
  uint64_t bytes() const { return Memory.bytes(); }
  AddressRange range() const { return Memory.range(); }
  /// The memory goes back, once it is idle; false: there was none.
  bool drop();
  /// What has moved since it was called last goes to the ledger; waits for the
  /// end of the last launch.
  PageCounts collect();

  /// In the call's queue the table says where the uses are: those in `onHost`,
  /// the others on the device. DRAGON_ERROR_UNSUPPORTED where it is too small
  /// for the addresses. With requests, what may be written is so in frames
  /// alone.
  StatusOr<PageView> begin(const LaunchCall &call, const LaunchFootprint &whole,
                           std::span<const PagedChunk> onHost,
                           const PagesAsked &asked = {});
  /// In how many slices a launch should run that may access so much of what is
  /// in host memory, if it can: what one needs should fit.
  unsigned slicesFor(uint64_t bytesOnHost) const;
  /// The launch that begin() was called for goes by what its own slices find,
  /// and not by what the kernel's launch before found.
  Status forgetHabit(Queue queue);
  /// Behind a slice, or the whole launch: pages that it wrote go to where they
  /// came from, and frames are free again if few are.
  Status endSlice(const LaunchCall &call, bool isLast);
  /// Behind the last one.
  Status end(const LaunchCall &call);
  uint64_t frames() const { return NumFrames; }
  /// What a slice did that has ended.
  struct SliceEnd {
    uint64_t framesInUse = 0;         ///< when it ended
    std::vector<StoredFrame> written; ///< by frame
  };
  StatusOr<SliceEnd> waitForSlice(const LaunchCall &call, bool withWritten);
  /// What the slice wrote in frames has not been written: all of them are free.
  Status undoSlice(const LaunchCall &call, std::span<const PagedChunk> onHost);
  /// The bytes of so many frames, as they are now.
  Status copyFrames(uint32_t first, uint32_t count, void *to) const;
  /// One of those failed: nothing is known of what the table and the frames
  /// hold, and the next launch begins anew.
  void forget();
  /// What has been written by then in these places was by the launch: its pages
  /// are what is there.
  void keep(std::span<const PagedChunk> onHost);
  /// For the end of the last launch.
  Status wait() { return Time.Work.waitFor(Ticket); }

private:
  /// Whose EnoughTouches is kept from one launch to the next.
  static constexpr uint32_t MostKernels = 64;

  /// What the table says of a range of addresses.
  struct Granule {
    uint64_t buffer = 0; ///< whose pages frames may have; 0: nobody's
    uint64_t writes = 0; ///< the buffer's when they were fetched
  };

  uint64_t usualBytes() const;
  /// Lays out the memory for the addresses of all buffers, with nothing in it.
  Status layOut(uint32_t granuleShift, Queue queue);
  /// What addresses the table has, in which cells.
  void chooseCells(uint32_t granuleShift);
  /// All buffers are in the table.
  bool covers() const;
  bool covers(uintptr_t begin, uintptr_t end) const;
  Status reset(Queue queue);
  /// How many touches are enough is what earlier launches of the kernel found.
  Status changeKernel(const KernelInfo *next, Queue queue);
  /// What the launch uses of buffers that it reads in host memory.
  std::vector<PageRegion> regionsOf(const LaunchFootprint &whole,
                                    std::span<const PagedChunk> onHost) const;
  Status setRegions(std::vector<PageRegion> now, Queue queue);
  StatusOr<PageControl> control(Queue queue) const;
  Status setControl(const PageControl &now, Queue queue) const;
  Status setRequests(const PagesAsked &asked, Queue queue);
  Status set(size_t firstGranule, size_t count, PageEntry entry, Queue queue);
  uint64_t numEntries() const {
    return uint64_t(Cells.back().Entry) + Cells.back().Count;
  }
  /// The first, and the one behind the last; none if it is not in the table.
  std::pair<size_t, size_t> granulesOf(uintptr_t begin, uintptr_t end) const;
  std::pair<size_t, size_t> granulesOf(const Chunk &chunk) const {
    return granulesOf(chunk.va(), chunk.va() + chunk.bytes());
  }

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  DeviceChunks &OnDevice;
  std::unordered_set<const KernelInfo *> Refused;

  DeviceScratch Memory;
  bool IsLarge = false; ///< by makeLarge(), and more than make() takes
  uint64_t Ticket = 0;  ///< of the last launch that uses it
  /// Of `Control`, as they are in the ledger.
  uint64_t Fetched = 0, Written = 0, Direct = 0;
  const KernelInfo *Last = nullptr; ///< the last launch's
  std::unordered_map<const KernelInfo *, uint32_t> Numbers; ///< in `Habits`

  // The layout; no frames: there is none.
  uint64_t NumFrames = 0;
  uint32_t GranuleShift = 0;
  PageView View{};
  uint64_t Habits = 0; ///< the address of a number of touches by kernel
  PageControl Initial{};
  uint64_t Requests = 0;       ///< as the device has it
  std::vector<PageCell> Cells; ///< at least one; of entries, not granules
  std::vector<Granule> Granules;
  std::vector<int64_t> Deltas;     ///< as the device has them
  std::vector<PageRegion> Regions; ///< the same
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_PAGECACHE_H
