//===- HostMappedRunner.h - launches that see a part of it in host memory *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where not everything fits that blocks use at once, kernels are given a part
// of it in host memory, at the same addresses. Which part is a matter of how
// often it is accessed (LinkCost.h). A launch that is not sliced has it so for
// all blocks: the plan says only that, and each launch chooses by what is where
// then. One that is sliced, by its plan, for chunks that all slices use.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_HOSTMAPPEDRUNNER_H
#define DRAGON_RUNTIME_LAUNCH_HOSTMAPPEDRUNNER_H

#include "runtime/launch/PageCache.h"
#include "runtime/launch/SlicePlanner.h"
#include "runtime/launch/SliceRunner.h"
#include "runtime/launch/SparseSlices.h"
#include "runtime/memory/ProgramPins.h"

#include <optional>
#include <unordered_map>

namespace dragon {

class HostMappedRunner {
public:
  HostMappedRunner(Context &context, WorkTracker &time, HostSlabs &slabs,
                   HostMemory &host, Contents &data, DeviceChunks &deviceChunks,
                   Residency &resident, HostMapping &mapping, Submitter &submit,
                   AccessCounting &counting, PageCache &pages,
                   ProgramPins &pinned, SlicePlanner &plans,
                   SliceRunner &slices)
      : Ctx(context), Time(time), Slabs(slabs), Host(host), Data(data),
        OnDevice(deviceChunks), Resident(resident), Mapping(mapping),
        Submit(submit), Counting(counting), Pages(pages), Pinned(pinned),
        Plans(plans), Slices(slices) {}

  /// Blocks see a part of what they use in host memory.
  Status run(const ResolvedLaunch &launch, PlannedLaunch &planned);
  /// Runs parts of these slices with the copy that fetches pages, for as long
  /// as it fetches much less than what they may touch; says which have run.
  StatusOr<SparseSlices> runWhileSparse(const ResolvedLaunch &launch,
                                        PlannedLaunch &planned,
                                        const std::vector<BlockBox> &boxes);
  /// Slices see these chunks there.
  Status runMixed(SliceUses &uses, const LaunchFootprint &mapped);

  /// What is updated atomically cannot be elsewhere.
  static uint64_t bytesThatStay(const LaunchFootprint &whole);

private:
  /// Where the uses of a launch go.
  struct Places {
    /// To the device; those that are there come first.
    std::vector<ChunkUse> toDevice;
    std::vector<const ChunkUse *> onHost;
    double accessBytes = 0; ///< of accesses to those, about
  };
  /// How the device gets at what stays in host memory.
  enum class Reach { Mapped, Paged };
  /// The kernel's copy that fetches pages runs; false: it cannot. `onHost`: all
  /// of the places on the host.
  StatusOr<bool> runPaged(const ResolvedLaunch &launch,
                          const LaunchFootprint &whole, const Places &places,
                          std::span<const PagedChunk> onHost,
                          SparseSlices *sparse);
  /// `begun`: so many slices of it are the device's, if it fails, too.
  Status runPagedSlices(const ResolvedLaunch &launch,
                        const LaunchFootprint &whole,
                        std::span<const PagedChunk> onHost,
                        const PageView &view, SparseSlices *sparse,
                        size_t &begun);
  /// Those of the chunks that kernels can read where the program has them.
  std::vector<PagedChunk> pinInPlace(std::span<const ChunkUse *const> uses);
  /// Contents come to where the copy can fetch their pages, and it runs.
  StatusOr<bool> runFetching(const ResolvedLaunch &launch,
                             const LaunchFootprint &whole, const Places &places,
                             SparseSlices *sparse);
  Status noteWrites(const Places &places);
  /// What is on the device stays there, and nothing comes; nothing: too little
  /// is there.
  std::optional<Places> asTheyAre(const PlannedLaunch &planned,
                                  const LaunchFootprint &whole) const;
  StatusOr<Places> choose(const ResolvedLaunch &launch, PlannedLaunch &planned,
                          const LaunchFootprint &whole,
                          std::optional<AccessCounters> &counters);
  /// Contents come to host memory and, if they are to be, are mapped there.
  /// Where that is full, the first of `toDevice` go to the device meanwhile,
  /// and give up what they have there; `arrived` counts them. The uses must be
  /// pinned, and those of those of `toDevice` that are on the device: they come
  /// first.
  Status mapOnHost(std::span<const ChunkUse *const> uses,
                   std::span<const ChunkUse> toDevice, size_t &arrived,
                   Queue queue, Reach reach);
  /// What of the launch is on the device at once has room beside other
  /// programs, and is pinned if it is there.
  void claim(const Places &places);
  /// All that is to be on the device comes there, and the others to host
  /// memory.
  Status comeTogether(const Places &places,
                      std::span<const ChunkUse *const> toSlabs, Queue queue,
                      Reach reach);
  /// A slab in host memory for a chunk that has none.
  Status takeMapped(Chunk &chunk, std::span<const ChunkUse> toDevice,
                    size_t &arrived, Queue queue, Reach reach);
  /// The chunk comes to the device, and nothing of it stays in host memory.
  Status moveToDevice(const ChunkUse &use, Queue queue);

  Context &Ctx;
  WorkTracker &Time;
  HostSlabs &Slabs;
  HostMemory &Host;
  Contents &Data;
  DeviceChunks &OnDevice;
  Residency &Resident;
  HostMapping &Mapping;
  Submitter &Submit;
  AccessCounting &Counting;
  PageCache &Pages;
  ProgramPins &Pinned;
  SlicePlanner &Plans;
  SliceRunner &Slices;
  /// How often such launches came.
  std::unordered_map<uint64_t, uint32_t> Times;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_HOSTMAPPEDRUNNER_H
