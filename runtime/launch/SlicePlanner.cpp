//===- SlicePlanner.cpp - how launches run in slices ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SlicePlanner.h"

#include "runtime/launch/BoxFootprints.h"
#include "runtime/trace/Trace.h"
#include <algorithm>

namespace dragon {

uint64_t SlicePlanner::deviceBytesFor(const PlannedLaunch &planned) const {
  uint64_t bytes = OnDevice.Pool.budget();
  auto isPart = [&planned](const Buffer *buffer) {
    return std::find(planned.buffers.begin(), planned.buffers.end(), buffer) !=
           planned.buffers.end();
  };
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    if (buffer->kept && !buffer->driverMoved && !isPart(buffer.get()))
      bytes -= buffer->vaBytes;
  for (const Chunk *chunk : OnDevice.Chunks)
    if (chunk->holds.calls && !chunk->buffer->kept && !isPart(chunk->buffer))
      bytes -= chunk->bytes();
  return bytes;
}

bool SlicePlanner::isWorthSparing(const PlannedLaunch &planned,
                                  uint64_t budget) const {
  constexpr uint64_t Much = 8;
  if (planned.bytes > budget || !Next.foresees())
    return false;
  uint64_t missing = 0;
  for (const ChunkUse &use : planned.whole.uses)
    missing += use.chunk->device.id ? 0 : use.chunk->bytes();
  if (OnDevice.Pool.hasRoom(missing))
    return false;
  // For a little that is missing goes what streams, and nothing that stays.
  return missing >= budget / Much ||
         (!OnDevice.AnyStream &&
          std::ranges::none_of(planned.whole.uses, &ChunkUse::partly));
}

void SlicePlanner::setLoop(const ResolvedLaunch &launch,
                           PlanInput &input) const {
  if (!State.canCut(launch))
    return;
  input.trips = LoopState::tripsOf(launch);
  input.stateBytes = [&](uint64_t blocks) {
    return State.bytesToMake(launch, blocks);
  };
}

const Slicing &SlicePlanner::slicingOf(const ResolvedLaunch &launch,
                                       PlannedLaunch &planned, SliceSize size) {
  const LaunchFootprint &whole = planned.whole;
  PlanInput input{};
  input.largeSlices = size.large;
  input.deviceBudget = deviceBytesFor(planned);
  input.deviceBudget /= size.share;
  input.sparing =
      size.share == 1 && isWorthSparing(planned, input.deviceBudget);
  input.hostRoom = hostRoom();
  const bool again = planned.launches > 1;
  const bool onPeers = size.share == 1 && fitsWithPeers(planned);
  const Slicing::Conditions conditions{
      input.deviceBudget, input.hostRoom,
      input.sparing,      again && planned.weighsMapping,
      size.large,         onPeers};
  if (const Slicing *known = planned.find(conditions))
    return *known;
  TraceZone zone("plan");
  zone.on(nameOf(launch));
  std::copy(launch.grid, launch.grid + 3, input.grid);
  const KernelRecord *record = launch.kernel->record;
  input.sliceable = record && !launch.anything && !launch.cooperative &&
                    (record->Flags & KernelSliceable);
  // Several launches share the device as slices, or not at all.
  input.hostMapped = Ctx.device->caps().hostMapped && size.share == 1;
  // Kernels reach what peers have faster than pages come from there.
  input.paged = input.hostMapped && !onPeers && Pages.isWorth(launch);
  // What fits is not cut along a loop: no need to look at that copy.
  if (size.share == 1 && planned.bytes > input.deviceBudget)
    setLoop(launch, input);
  BoxFootprints footprints(launch, Space.Allocations, whole);
  input.buffers = footprints.buffers();
  input.footprint = [&](const BlockBox &box) { return footprints.of(box); };
  input.extents = [&](const BlockBox &box) {
    return footprints.extentsOf(box);
  };
  input.foresee = [&](std::span<const BlockBox> boxes) {
    footprints.foresee(boxes);
  };
  input.rates = ratesFor(planned);
  if (again && !onPeers)
    input.rates.mapping *= MostForeseen;
  input.placed = [&] {
    planned.weighsMapping = true;
    const std::vector<double> &bytes = Counting.accessBytes(launch, planned);
    std::vector<PlanInput::Placed> placed;
    for (size_t i = 0; i < whole.uses.size(); ++i) {
      const Chunk &chunk = *whole.uses[i].chunk;
      placed.push_back({footprints.numberOf(chunk), chunk.index,
                        placedOf(whole.uses[i], bytes[i])});
    }
    return placed;
  };
  Slicing slicing{conditions, planLaunch(input), {}, {}, {}};
  const LaunchPlan &plan = slicing.plan;
  if (plan.kind == LaunchPlan::Sliced || plan.kind == LaunchPlan::LoopSliced)
    for (const BlockBox &box : plan.boxes)
      slicing.parts.push_back(footprints.take(box));
  else if (plan.kind == LaunchPlan::Mixed) {
    auto onHost = [&](const ChunkUse &use) {
      const uint32_t chunk = use.chunk->index;
      return !intersection(plan.onHost, {{footprints.numberOf(*use.chunk),
                                          chunk, chunk + 1}})
                  .empty();
    };
    for (const BlockBox &box : plan.boxes) {
      auto [device, host] = split(footprints.take(box), onHost);
      slicing.parts.push_back(std::move(device));
      slicing.mappedParts.push_back(std::move(host));
    }
    slicing.mapped = split(whole, onHost).second;
  }
  return planned.keep(std::move(slicing));
}

bool SlicePlanner::fitsWithPeers(const PlannedLaunch &planned) const {
  if (!Slabs.Peers.areNear())
    return false;
  const uint64_t device = deviceBytesFor(planned);
  // Others stay on the peers where their contents are not on the device.
  auto staysThere = [](const Chunk &chunk) {
    return chunk.host.place == Place::Peer && !chunk.copies.device
               ? chunk.host.bytes
               : 0;
  };
  uint64_t others = 0;
  for (const Chunk *chunk : Slabs.Chunks)
    others += staysThere(*chunk);
  for (const ChunkUse &use : planned.whole.uses) {
    if (use.chunk->buffer->hostAccessible)
      return false;
    others -= staysThere(*use.chunk);
  }
  return planned.bytes > device &&
         planned.bytes - device + others <= Slabs.Peers.budget();
}

LinkRates SlicePlanner::ratesFor(const PlannedLaunch &planned) const {
  return fitsWithPeers(planned) ? PeerRates : linkRates();
}

LinkRates SlicePlanner::linkRates() const {
  LinkRates rates;
  if (Mapping.rate() > 0)
    rates.mapping = Mapping.rate();
  const CopyRates measured = Ctx.device->copyRates();
  if (measured.toDevice > 0) {
    rates.toDevice = measured.toDevice;
    rates.mapped = MappedShare * measured.toDevice;
  }
  if (measured.toHost > 0)
    rates.toHost = measured.toHost;
  return rates;
}

PlacedChunk SlicePlanner::placedOf(const ChunkUse &use, double accessBytes) {
  const Chunk &chunk = *use.chunk;
  PlacedChunk placed;
  placed.bytes = chunk.bytes();
  placed.accessBytes = accessBytes;
  placed.mustStay = use.atomic || chunk.buffer->kept || chunk.holds.calls;
  placed.onDevice = chunk.copies.device;
  placed.copied =
      !use.mustWrite() && !(chunk.copies.device && chunk.copies.host);
  placed.hostOnly = chunk.buffer->hostAccessible;
  placed.mappable =
      chunk.hostMapped || (chunk.host.id && chunk.host.place != Place::Pinned);
  return placed;
}

const Slicing &SlicePlanner::evenSlicingOf(const ResolvedLaunch &launch,
                                           PlannedLaunch &planned,
                                           uint32_t pieces) {
  const Slicing::Conditions conditions{0,     {},    false, false,
                                       false, false, pieces};
  if (const Slicing *known = planned.find(conditions))
    return *known;
  auto touchedBy = [](const LaunchFootprint &chunks) {
    uint64_t bytes = 0;
    for (const ChunkUse &use : chunks.uses)
      bytes += use.touched.bytes();
    return bytes;
  };
  Slicing slicing{conditions, {}, {}, {}, {}};
  slicing.plan.kind = LaunchPlan::Impossible;
  // Neighbours share a little, such as the border of a stencil.
  const uint64_t all = touchedBy(planned.whole), most = all + all / 4;
  for (unsigned d = 3;
       d-- > 0 && slicing.plan.kind == LaunchPlan::Impossible;) {
    const uint32_t number = std::min(pieces, launch.grid[d]);
    if (number < 2 || launch.anything)
      continue;
    std::vector<BlockBox> boxes = equalBoxes(launch, d, number);
    BoxFootprints footprints(launch, Space.Allocations, planned.whole);
    footprints.foresee(boxes);
    std::vector<LaunchFootprint> parts;
    uint64_t bytes = 0;
    for (const BlockBox &box : boxes) {
      footprints.of(box);
      bytes += touchedBy(parts.emplace_back(footprints.take(box)));
      if (bytes > most)
        break;
    }
    if (bytes > most)
      continue;
    slicing.plan.kind = LaunchPlan::Sliced;
    slicing.plan.boxes = std::move(boxes);
    slicing.parts = std::move(parts);
  }
  return planned.keep(std::move(slicing));
}

const Slicing &SlicePlanner::fineSlicingOf(const WaitingLaunch &waiting,
                                           const WaveCut &cut) {
  const ResolvedLaunch &launch = waiting.launch();
  SliceSize size = cut.size;
  while (size.share > 1 && !canRun(slicingOf(launch, waiting.planned(), size)))
    size.share /= 2;
  const Slicing &own = slicingOf(launch, waiting.planned(), size);
  if (own.plan.kind == LaunchPlan::Resident && cut.pieces > 1)
    if (const Slicing &even =
            evenSlicingOf(launch, waiting.planned(), cut.pieces);
        canRun(even))
      return even;
  return own;
}

} // namespace dragon
