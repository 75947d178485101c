//===- SparseSlices.cpp - slices of which little may be needed ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SparseSlices.h"

#include "runtime/launch/LoopState.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace dragon {

namespace {

/// The dimension in which a box is longest.
unsigned longest(const BlockBox &box) {
  unsigned longest = 0;
  for (unsigned d = 1; d < LoopDimension; ++d)
    if (box.Hi[d] - box.Lo[d] > box.Hi[longest] - box.Lo[longest])
      longest = d;
  return longest;
}

/// `box` goes on where `before` ends.
bool goesOn(const BlockBox &before, const BlockBox &box) {
  unsigned differ = 0, along = 0;
  for (unsigned d = 0; d <= LoopDimension; ++d)
    if (before.Lo[d] != box.Lo[d] || before.Hi[d] != box.Hi[d]) {
      ++differ;
      along = d;
    }
  return differ == 1 && before.Hi[along] == box.Lo[along];
}

} // namespace

SparseSlices::SparseSlices(const std::vector<BlockBox> &slices,
                           uint64_t missing)
    : Missing(missing) {
  for (const BlockBox &slice : slices)
    Blocks += blocksOf(slice);
  addPieces(slices);
}

void SparseSlices::addPieces(const std::vector<BlockBox> &slices) {
  const uint64_t each = std::max<uint64_t>(Blocks / SampledPart / Samples, 1);
  std::vector<Piece> others;
  uint64_t before = 0; // blocks of the slices before
  unsigned sample = 0;
  for (size_t i = 0; i < slices.size(); ++i) {
    BlockBox rest = slices[i];
    const unsigned along = longest(rest);
    const uint64_t blocks = blocksOf(rest);
    const uint64_t layer = blocks / (rest.Hi[along] - rest.Lo[along]);
    auto add = [&](std::vector<Piece> &to, uint32_t end) {
      if (end <= rest.Lo[along])
        return;
      BlockBox part = rest;
      part.Hi[along] = rest.Lo[along] = end;
      to.push_back({part, i});
    };
    for (; sample < Samples; ++sample) {
      // Samples are in the middle of as many equal parts.
      const uint64_t at = Blocks * (2 * sample + 1) / (2 * Samples);
      if (at >= before + blocks)
        break;
      const uint64_t begin = slices[i].Lo[along] + (at - before) / layer;
      const uint64_t end = begin + std::max<uint64_t>(each / layer, 1);
      add(others, uint32_t(begin));
      add(Pieces, uint32_t(std::min<uint64_t>(end, rest.Hi[along])));
    }
    add(others, rest.Hi[along]);
    before += blocks;
  }
  NumSamples = Pieces.size();
  Pieces.insert(Pieces.end(), others.begin(), others.end());
}

const std::vector<SparseSlices::Group> &SparseSlices::group(size_t number) {
  const size_t others = Pieces.size() - NumSamples;
  const size_t most = (others + number - 1) / std::max<size_t>(number, 1);
  for (size_t i = 0, count = 0; i < Pieces.size(); ++i) {
    const BlockBox &box = Pieces[i].box;
    if (i > NumSamples && count < most && goesOn(Groups.back().box, box)) {
      std::copy_n(box.Hi, LoopDimension + 1, Groups.back().box.Hi);
      Groups.back().end = i + 1;
      ++count;
    } else {
      Groups.push_back({box, i + 1});
      count = 1;
    }
  }
  return Groups;
}

bool SparseSlices::isLookedAt(size_t groups) const {
  // The first sample, all of them, and behind them the first group, the second,
  // the fourth, ...
  return groups == 1 || groups == NumSamples ||
         (groups > NumSamples && std::has_single_bit(groups - NumSamples));
}

bool SparseSlices::isDense(size_t groups, double bytes) {
  uint64_t seen = 0;
  for (size_t i = 0; i < groups; ++i)
    seen += blocksOf(Groups[i].box);
  const auto blocks = double(seen - std::exchange(Seen, seen));
  const auto left = double(Blocks - seen);
  const double missingRate = double(Missing) / double(Blocks);
  if (groups < NumSamples)
    return false; // by the first one the kernel finds how it goes on
  if (groups == NumSamples)
    SampleRate = bytes / blocks;
  else
    Lost += bytes - blocks * missingRate;
  const double saving = (missingRate - SampleRate) * left;
  return saving <= 0 || Lost > saving / 2;
}

} // namespace dragon
