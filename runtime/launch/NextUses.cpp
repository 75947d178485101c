//===- NextUses.cpp - when chunks are needed next -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/NextUses.h"

#include "runtime/launch/LaunchKey.h"
#include "runtime/launch/WaitingLaunch.h"

#include <algorithm>
#include <set>

namespace dragon {

static void sortByBegin(std::vector<AddressRange> &ranges) {
  std::ranges::sort(ranges, {}, &AddressRange::begin);
}

uint64_t NextUses::beginLaunch() {
  ++Ctx.launches;
  Ctx.clock = std::max(Ctx.clock + 1, Ctx.launches * LaunchTime);
  return Ctx.launches;
}

void NextUses::remember(const ResolvedLaunch &launch,
                        const LaunchFootprint &whole) {
  LaunchClock = Ctx.clock;
  auto ascending = [](std::vector<AddressRange> ranges) {
    sortByBegin(ranges);
    return ranges;
  };
  auto byData = [](const ChunkUse &use) { return use.partly; };
  auto touches = [](const ChunkUse &use) {
    return !use.partly && !use.mustWrite();
  };
  auto overwrites = [](const ChunkUse &use) {
    return !use.partly && use.mustWrite();
  };
  std::vector<AddressRange> touched;
  if (std::ranges::any_of(whole.uses, [](const ChunkUse &use) {
        return use.chunk->buffer->byData;
      }))
    for (const ChunkUse &use : whole.uses)
      if (touches(use))
        touched.push_back(
            use.chunk->buffer->byData
                ? AddressRange{use.chunk->va() + use.touched.begin,
                               use.chunk->va() + use.touched.end}
                : AddressRange{use.chunk->va(), use.chunk->usedEnd()});
  // What data may say, whether they have been looked at or not.
  std::set<const Buffer *> ledTo;
  if (launch.kernel->footprints)
    for (const LaunchPointer &pointer : launch.pointers)
      if (pointer.allocation &&
          launch.kernel->footprints->dependsOnMemory(pointer.index))
        ledTo.insert(pointer.allocation->buffer);
  auto unsure = [&ledTo](const ChunkUse &use) {
    return ledTo.contains(use.chunk->buffer);
  };
  History.begin(buffersKey(launch),
                {ascending(addressRanges(whole, touches)),
                 ascending(addressRanges(whole, overwrites)),
                 ascending(addressRanges(whole, byData)),
                 ascending(std::move(touched)),
                 ledTo.empty() ? std::vector<AddressRange>()
                               : ascending(addressRanges(whole, unsure))},
                Ctx.clock);
  if (History.foreseen())
    Ctx.ledger.count(Counter::ForeseenLaunches);
}

Forecast NextUses::nextUseOf(Chunk &chunk) {
  if (chunk.nextUseOf != LaunchClock) {
    chunk.nextUse = foresee(chunk);
    chunk.nextUseOf = LaunchClock;
  }
  return chunk.nextUse;
}

Forecast NextUses::foresee(const Chunk &chunk) const {
  if (Coming)
    if (const Forecast coming = Coming->nextUse(chunk); coming.clock)
      return coming;
  const Forecast seen = History.nextUse(chunk.va());
  return seen.clock ? seen : Forecast{announcedUse(*chunk.buffer)};
}

void NextUses::overwritten(uintptr_t begin, uintptr_t end) {
  if (Time.Tracking)
    History.overwritten({begin, end});
}

uint64_t NextUses::announcedUse(const Buffer &buffer) const {
  constexpr uint64_t Far = uint64_t(1) << 40;
  const uint64_t last = Ctx.launches * LaunchTime;
  if (buffer.nextLaunch == UINT64_MAX)
    return last + Far;
  if (buffer.nextLaunch <= Ctx.launches)
    return 0; // it has not come true, or come and gone
  return last + (buffer.nextLaunch - Ctx.launches) * LaunchTime;
}

void NextUses::announce(Buffer &buffer, uint32_t launches) {
  buffer.nextLaunch =
      launches == NeverAgain ? UINT64_MAX : Ctx.launches + 1 + launches;
  for (Chunk &chunk : buffer.chunks)
    if (chunk.nextUse.clock == 0)
      chunk.nextUseOf = 0; // to be asked again
}

void NextUses::remember(uint64_t signature, std::span<const ChunkUse> uses) {
  LaunchClock = Ctx.clock;
  LaunchHistory::Addresses addresses;
  for (const ChunkUse &use : uses)
    (use.mustWrite() ? addresses.overwrites : addresses.uses)
        .push_back({use.chunk->va(), use.chunk->usedEnd()});
  for (auto *ranges : {&addresses.uses, &addresses.overwrites})
    sortByBegin(*ranges);
  History.begin(signature, std::move(addresses), Ctx.clock);
}

} // namespace dragon
