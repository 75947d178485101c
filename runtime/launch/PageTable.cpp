//===- PageTable.cpp - where the table of pages has what ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of PageCache that lays out its memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Rounding.h"
#include "runtime/launch/PageCache.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace dragon {

namespace {

/// The table may take so much of the cache's memory.
constexpr uint64_t ShareOfTable = 4;
/// A range of addresses has a source of its own down to that size.
constexpr uint32_t SmallestGranule = 16;
constexpr uint64_t Alignment = 256;
constexpr uint64_t MostCells = 4096;

} // namespace

void PageCache::chooseCells(uint32_t granuleShift) {
  GranuleShift = granuleShift;
  const uint64_t granule = uint64_t(1) << granuleShift;
  std::vector<AddressRange> ranges;
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    ranges.push_back(
        {buffer->base, buffer->base + roundUp(buffer->vaBytes, granule)});
  std::sort(ranges.begin(), ranges.end(),
            [](const auto &a, const auto &b) { return a.begin < b.begin; });
  View.base = ranges.front().begin;
  View.count = (ranges.back().end - View.base) >> PageShift;
  auto cells = [&](uint32_t shift) {
    std::vector<PageCell> result(
        ((ranges.back().end - View.base - 1) >> shift) + 1);
    for (const AddressRange &range : ranges)
      for (uint64_t at = range.begin - View.base, next;
           at < range.end - View.base; at = next) {
        next = std::min<uint64_t>(((at >> shift) + 1) << shift,
                                  range.end - View.base);
        PageCell &cell = result[at >> shift];
        if (cell.Count == 0)
          cell.First = unsigned(at >> PageShift);
        cell.Count = unsigned(next >> PageShift) - cell.First;
      }
    unsigned entries = 0;
    for (PageCell &cell : result) {
      cell.Entry = entries;
      entries += cell.Count;
    }
    return result;
  };
  auto cost = [](const std::vector<PageCell> &some) {
    return some.size() * sizeof(PageCell) +
           uint64_t(some.back().Entry + some.back().Count) *
               (sizeof(uint32_t) + 1);
  };
  // One cell takes no look-up of its own.
  uint64_t least = UINT64_MAX;
  const auto widest = uint32_t(std::bit_width(ranges.back().end - View.base));
  for (uint32_t shift = widest;
       shift >= granuleShift &&
       ((View.count << PageShift) >> shift) < MostCells;
       --shift)
    if (auto some = cells(shift); cost(some) < least) {
      least = cost(some) / 2; // unless it saves much
      View.cellShift = shift;
      Cells = std::move(some);
    }
}

bool PageCache::covers(uintptr_t begin, uintptr_t end) const {
  if (begin < View.base || end > View.base + (View.count << PageShift))
    return false;
  // Where a cell ends and the next one begins, their entries are neighbours.
  for (uintptr_t at = begin - View.base, next; at < end - View.base;
       at = next) {
    const size_t number = at >> View.cellShift;
    next = std::min<uintptr_t>((number + 1) << View.cellShift, end - View.base);
    const PageCell &cell = Cells[number];
    if (at >> PageShift < cell.First ||
        (next - 1) >> PageShift >= uint64_t(cell.First) + cell.Count)
      return false;
  }
  return true;
}

bool PageCache::covers() const {
  return NumFrames != 0 &&
         std::all_of(Space.Buffers.begin(), Space.Buffers.end(),
                     [&](const std::unique_ptr<Buffer> &buffer) {
                       return covers(buffer->base,
                                     buffer->base + buffer->vaBytes);
                     });
}

Status PageCache::layOut(uint32_t granuleShift, Queue queue) {
  if (granuleShift < SmallestGranule)
    return Status::error(DRAGON_ERROR_UNSUPPORTED, "chunks are too small");
  collect();
  NumFrames = 0;
  chooseCells(granuleShift);
  const uint64_t entries = numEntries();
  const uint64_t granules = entries >> (granuleShift - PageShift);
  uint64_t at = Memory.address();
  auto take = [&](uint64_t bytes) {
    const uint64_t where = at;
    at += roundUp(bytes, Alignment);
    return where;
  };
  View.shift = PageShift;
  View.control = take(sizeof(PageControl));
  View.cells = Cells.size() > 1 ? take(Cells.size() * sizeof(PageCell)) : 0;
  View.entries = take(entries * sizeof(uint32_t));
  Initial = {};
  Initial.SourceShift = granuleShift - PageShift;
  Initial.BreakEven = Ctx.config.pageTouches ? 0 : BreakEven;
  Initial.EnoughTouches =
      Ctx.config.pageTouches ? Ctx.config.pageTouches : Initial.BreakEven;
  Habits = take(MostKernels * sizeof(uint32_t));
  Initial.Sources = take(granules * sizeof(int64_t));
  Initial.Marks = take(entries);
  Initial.Regions = take(MostPageRegions * sizeof(PageRegion));
  Initial.Tracks = take(MostPageRegions * sizeof(PageTrack));
  const AddressRange all = Memory.range();
  if (at - all.begin > Memory.bytes() / ShareOfTable || View.count > UINT32_MAX)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "a table of {} for the pages of all buffers is too "
                         "much of {}",
                         formatBytes(at - all.begin),
                         formatBytes(Memory.bytes()));
  const uint64_t left = all.end - at;
  NumFrames = (left - std::min(left, PageBytes + Alignment)) /
              (PageBytes + sizeof(PageFrame));
  Initial.Held = take(NumFrames * sizeof(PageFrame));
  Initial.NumFrames = unsigned(NumFrames);
  View.frames = roundUp(at, PageBytes);
  Granules.assign(granules, {});
  Deltas.assign(granules, 0);
  log(LogLevel::Debug, "{} frames of {}, {} entries in {} cells", NumFrames,
      formatBytes(PageBytes), entries, Cells.size());
  if (View.cells)
    DRAGON_TRY(Ctx.device->copyAndWait(
        reinterpret_cast<void *>(View.cells), Cells.data(),
        Cells.size() * sizeof(PageCell), CopyKind::HostToDevice, queue));
  DRAGON_TRY(Ctx.device->fill(reinterpret_cast<void *>(Initial.Sources), 0, 1,
                              granules * sizeof(int64_t), queue));
  return reset(queue);
}

Status PageCache::reset(Queue queue) {
  auto zero = [&](uint64_t va, uint64_t bytes) {
    return Ctx.device->fill(reinterpret_cast<void *>(va), 0, 1, bytes, queue);
  };
  static_assert(PageResident == 0);
  const uint64_t entries = numEntries();
  DRAGON_TRY(zero(View.entries, entries * sizeof(uint32_t)));
  DRAGON_TRY(zero(Initial.Marks, entries));
  DRAGON_TRY(Ctx.device->fill(reinterpret_cast<void *>(Habits),
                              Initial.EnoughTouches, sizeof(uint32_t),
                              MostKernels, queue));
  std::fill(Granules.begin(), Granules.end(), Granule{});
  Fetched = Written = Direct = 0;
  Requests = 0;
  Last = nullptr;
  Regions.clear();
  return setControl(Initial, queue);
}

std::pair<size_t, size_t> PageCache::granulesOf(uintptr_t begin,
                                                uintptr_t end) const {
  if (begin < View.base || begin - View.base >= View.count << PageShift)
    return {0, 0};
  const uintptr_t at = begin - View.base;
  const PageCell &cell = Cells[at >> View.cellShift];
  const uint64_t page = at >> PageShift;
  const uint64_t pages = (end - begin + PageBytes - 1) >> PageShift;
  if (page < cell.First || page - cell.First >= cell.Count)
    return {0, 0};
  // A part of a buffer goes on in the next cell where one ends.
  const uint64_t first = cell.Entry + (page - cell.First);
  const uint32_t shift = GranuleShift - PageShift;
  return {first >> shift,
          (first + pages + (uint64_t(1) << shift) - 1) >> shift};
}

Status PageCache::set(size_t firstGranule, size_t count, PageEntry entry,
                      Queue queue) {
  const uint32_t pages = GranuleShift - PageShift;
  const uint64_t first = uint64_t(firstGranule) << pages;
  const uint64_t number = uint64_t(count) << pages;
  DRAGON_TRY(Ctx.device->fill(
      reinterpret_cast<void *>(View.entries + first * sizeof(uint32_t)), entry,
      sizeof(uint32_t), number, queue));
  return Ctx.device->fill(reinterpret_cast<void *>(Initial.Marks + first), 0, 1,
                          number, queue);
}

} // namespace dragon
