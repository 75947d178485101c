//===- SparseSlices.h - slices of which little may be needed ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays of indices say what the slices of a launch may need, and conditions in
// the kernel may leave out most of that: a search along a graph goes on from
// few vertices or from half of them. Which it is shows while it runs with the
// copy that fetches pages (docs/paging.md): first in samples from all over the
// grid, as the first part is seldom like the rest, then a few slices at a time.
// Where pages would take longer for all of it than copies of all its chunks, by
// the samples, the rest runs as slices; and once the groups behind them have
// taken so much longer that half of what the rest could save is lost.
//
// Source: systematic sampling (Madow and Madow, "On the theory of systematic
// sampling", 1944): at equal distances, for what changes slowly along the grid.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SPARSESLICES_H
#define DRAGON_RUNTIME_LAUNCH_SPARSESLICES_H

#include "dragon/BlockBox.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragon {

class SparseSlices {
public:
  /// A slice or a part of it.
  struct Piece {
    BlockBox box;
    size_t slice;
  };
  /// Pieces that run together.
  struct Group {
    BlockBox box;
    size_t end; ///< behind its last piece
  };

  /// What the samples are of all blocks, together, and so many there are.
  static constexpr uint64_t SampledPart = 32;
  static constexpr unsigned Samples = 8;

  /// `missing`: bytes that would come for all of them.
  SparseSlices(const std::vector<BlockBox> &slices, uint64_t missing);

  /// What runs, in order: the samples, and behind them at least `number`
  /// groups, if there are as many slices.
  const std::vector<Group> &group(size_t number);
  /// The group behind so many is the neighbour of the last one.
  bool isFollowed(size_t groups) const { return groups > NumSamples; }
  /// Behind so many groups what was fetched is worth a look: the host waits for
  /// them then.
  bool isLookedAt(size_t groups) const;
  /// These groups have run, and what the last ones fetched since the last call
  /// counts as so many bytes of copies: slices are quicker for what is left.
  bool isDense(size_t groups, double bytes);
  /// Groups that have run.
  void ran(size_t groups) { Ran = groups ? Groups[groups - 1].end : 0; }

  /// All pieces; those that have run come first.
  const std::vector<Piece> &pieces() const { return Pieces; }
  size_t numRan() const { return Ran; }

private:
  void addPieces(const std::vector<BlockBox> &slices);

  const uint64_t Missing;
  std::vector<Piece> Pieces;
  std::vector<Group> Groups;
  size_t NumSamples = 0;
  uint64_t Blocks = 0;   ///< of all slices
  uint64_t Seen = 0;     ///< blocks of the groups that were looked at
  double SampleRate = 0; ///< bytes for a block
  double Lost = 0;       ///< bytes that slices would not have moved
  size_t Ran = 0;        ///< pieces
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SPARSESLICES_H
