//===- AccessEstimate.cpp - how often a launch touches which chunk
//------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/AccessEstimate.h"

#include "runtime/launch/AccessCounts.h"
#include "runtime/launch/LinkCost.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace dragon {

namespace {

/// More of them see finer differences between parts of the grid.
constexpr uint32_t MaxBoxes = 16;
/// A block that touches a column of a matrix touches as many ranges as there
/// are rows.
constexpr size_t MaxRanges = size_t(1) << 17;

/// The block in the middle.
BlockBox middleOf(const BlockBox &box) {
  BlockBox block = box;
  for (unsigned d = 0; d < 3; ++d) {
    block.Lo[d] += (box.Hi[d] - box.Lo[d]) / 2;
    block.Hi[d] = block.Lo[d] + 1;
  }
  return block;
}

double volumeOf(const BlockBox &box) {
  double volume = 1;
  for (unsigned d = 0; d < 3; ++d)
    volume *= double(box.Hi[d] - box.Lo[d]);
  return volume;
}

double bytesOf(const ByteSet &set) {
  double bytes = 0;
  for (const ByteRange &range : set.Ranges)
    bytes += double(range.End) - double(range.Begin);
  return bytes;
}

class AccessMap {
public:
  AccessMap(const LaunchCall &call, const LaunchFootprint &whole)
      : Call(call), Bytes(whole.uses.size()) {
    for (size_t i = 0; i < whole.uses.size(); ++i)
      Places.emplace(whole.uses[i].chunk, i);
  }

  /// All that the launch does through it.
  void add(const LaunchPointer &pointer);
  std::vector<double> take() { return std::move(Bytes); }

private:
  void estimate(const LaunchPointer &pointer);
  std::optional<double> mostOf(const LaunchPointer &pointer) const;
  ByteFootprint footprint(const LaunchPointer &pointer,
                          const BlockBox &box) const {
    EvalLimits limits;
    const uint32_t accesses =
        Call.kernel->summary->pointer(pointer.index).NumAccesses;
    limits.MaxRanges =
        std::max(limits.MaxRanges, MaxRanges / std::max(accesses, uint32_t(1)));
    limits.WithMust = false;
    return evaluateFootprint(*Call.kernel->summary, *Call.kernel->record,
                             pointer.index, dimsOf(Call), box, limits);
  }
  /// `weight` times the bytes of the set, which is relative to the pointer.
  void add(const LaunchPointer &pointer, const ByteSet &set, double weight);

  const LaunchCall &Call;
  std::unordered_map<const Chunk *, size_t> Places;
  std::vector<double> Bytes;
};

void AccessMap::add(const LaunchPointer &pointer, const ByteSet &set,
                    double weight) {
  const Allocation &allocation = *pointer.allocation;
  Buffer &buffer = *allocation.buffer;
  auto addRange = [&](uintptr_t begin, uintptr_t end) {
    while (begin < end) {
      const Chunk &chunk = buffer.chunkAt(begin);
      const uintptr_t stop = std::min(end, chunk.va() + chunk.bytes());
      if (auto place = Places.find(&chunk); place != Places.end())
        Bytes[place->second] += weight * double(stop - begin);
      begin = stop;
    }
  };
  if (set.Everything) {
    addRange(allocation.base, allocation.end());
    return;
  }
  const auto value = int64_t(pointer.value);
  for (const ByteRange &range : set.Ranges) {
    int64_t begin, end;
    if (__builtin_add_overflow(value, range.Begin, &begin) ||
        __builtin_add_overflow(value, range.End, &end))
      continue;
    begin = std::max(begin, int64_t(allocation.base));
    end = std::min(end, int64_t(allocation.end()));
    if (begin < end)
      addRange(uintptr_t(begin), uintptr_t(end));
  }
}

/// What the accesses cost, if each thread makes each of them once at most: what
/// blocks may touch says little where that is anywhere.
std::optional<double> AccessMap::mostOf(const LaunchPointer &pointer) const {
  const SummaryView &summary = *Call.kernel->summary;
  const PointerRecord &record = summary.pointer(pointer.index);
  for (uint32_t i = 0; i < record.NumAccesses; ++i)
    if (!(summary.access(record.FirstAccess + i).Flags & AccessExact))
      return std::nullopt;
  bool loops = false;
  summary.visitExprs(record, [&](const ExprNode &node) {
    loops |= node.Op == ExprOp::Loop || node.Op == ExprOp::Carried;
  });
  if (loops)
    return std::nullopt;
  return volumeOf(wholeGrid(Call)) * double(threadsOfBlock(Call)) *
         record.NumAccesses * AccessCounts::AccessBytes;
}

void AccessMap::add(const LaunchPointer &pointer) {
  const std::optional<double> most = mostOf(pointer);
  if (!most)
    return estimate(pointer);
  const std::vector<double> before = Bytes;
  estimate(pointer);
  double all = 0;
  for (size_t i = 0; i < Bytes.size(); ++i)
    all += Bytes[i] - before[i];
  if (all > *most)
    for (size_t i = 0; i < Bytes.size(); ++i)
      Bytes[i] = before[i] + (Bytes[i] - before[i]) * (*most / all);
}

void AccessMap::estimate(const LaunchPointer &pointer) {
  const PointerRecord &record = Call.kernel->summary->pointer(pointer.index);
  const bool scattered = record.Pattern == AccessPattern::Strided ||
                         record.Pattern == AccessPattern::Indirect ||
                         record.Pattern == AccessPattern::Unknown;
  const double cost = scattered ? ScatteredCost : 1;
  const ByteFootprint all = footprint(pointer, wholeGrid(Call));
  bool bounded = true;
  for (const ByteSet *set : {&all.MayRead, &all.MayWrite})
    bounded &= !set->Everything;
  if (!bounded || record.Pattern == AccessPattern::Indirect) {
    add(pointer, all.MayRead, cost);
    add(pointer, all.MayWrite, cost);
    return;
  }
  for (const BlockBox &box : equalBoxes(Call, MaxBoxes)) {
    const ByteFootprint whole = footprint(pointer, box);
    const ByteFootprint block = footprint(pointer, middleOf(box));
    auto addSets = [&](const ByteSet &ofBox, const ByteSet &ofBlock) {
      const double bytes = bytesOf(ofBox);
      if (bytes > 0)
        add(pointer, ofBox,
            cost * std::max(1.0, bytesOf(ofBlock) * volumeOf(box) / bytes));
    };
    addSets(whole.MayRead, block.MayRead);
    addSets(whole.MayWrite, block.MayWrite);
  }
}

} // namespace

std::vector<double> estimateAccesses(const ResolvedLaunch &launch,
                                     const LaunchFootprint &whole) {
  AccessMap accesses(launch, whole);
  if (!launch.anything)
    for (const LaunchPointer &pointer : launch.pointers)
      if (pointer.allocation)
        accesses.add(pointer);
  std::vector<double> result = accesses.take();
  for (size_t i = 0; i < result.size(); ++i)
    if (result[i] <= 0) // nothing is known of it
      result[i] = ScatteredCost * (whole.uses[i].mayWrite() ? 2 : 1) *
                  double(whole.uses[i].chunk->used());
  return result;
}

} // namespace dragon
