//===- SparseSlicesTest.cpp - slices of which little may be needed --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SparseSlices.h"

#include "runtime/launch/LoopState.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

using namespace dragon;

namespace {

BlockBox box(uint32_t lo, uint32_t hi, uint32_t rows = 1) {
  return {{0, lo, 0, 0}, {rows, hi, 1, 0}};
}

/// So many slices of so many blocks each, in rows.
std::vector<BlockBox> slices(uint32_t number, uint32_t length,
                             uint32_t rows = 1) {
  std::vector<BlockBox> all;
  for (uint32_t i = 0; i < number; ++i)
    all.push_back(box(i * length, (i + 1) * length, rows));
  return all;
}

/// Each block is in one piece, which is of its slice.
void expectAllOnce(const std::vector<BlockBox> &slices,
                   const std::vector<SparseSlices::Piece> &pieces) {
  std::set<std::pair<uint32_t, uint32_t>> blocks;
  uint64_t expected = 0;
  for (const BlockBox &slice : slices)
    expected += blocksOf(slice);
  for (const SparseSlices::Piece &piece : pieces) {
    ASSERT_LT(piece.slice, slices.size());
    const BlockBox &slice = slices[piece.slice];
    for (uint32_t y = piece.box.Lo[1]; y < piece.box.Hi[1]; ++y)
      for (uint32_t x = piece.box.Lo[0]; x < piece.box.Hi[0]; ++x) {
        ASSERT_TRUE(blocks.emplace(x, y).second) << x << ", " << y;
        ASSERT_TRUE(x >= slice.Lo[0] && x < slice.Hi[0] && y >= slice.Lo[1] &&
                    y < slice.Hi[1]);
      }
  }
  EXPECT_EQ(blocks.size(), expected);
}

size_t numSamples(const SparseSlices &sparse) {
  size_t samples = 1;
  for (const auto &pieces = sparse.pieces();
       pieces[samples].box.Lo[1] > pieces[samples - 1].box.Lo[1];)
    ++samples;
  return samples;
}

TEST(SparseSlicesTest, PiecesAreAllOfTheGrid) {
  for (uint32_t number : {1, 2, 3, 23, 278})
    for (uint32_t length : {1, 2, 7, 100}) {
      const std::vector<BlockBox> all = slices(number, length, 3);
      SCOPED_TRACE(testing::Message() << number << " slices of " << length);
      expectAllOnce(all, SparseSlices(all, 1).pieces());
    }
}

TEST(SparseSlicesTest, SamplesAreFromAllOfTheGrid) {
  for (uint32_t number : {1, 16, 400}) {
    const std::vector<BlockBox> all = slices(number, 16000 / number);
    const SparseSlices sparse(all, 1);
    ASSERT_EQ(numSamples(sparse), SparseSlices::Samples);
    uint64_t sampled = 0;
    for (unsigned i = 0; i < SparseSlices::Samples; ++i) {
      const BlockBox &sample = sparse.pieces()[i].box;
      EXPECT_EQ(sample.Lo[1], 16000 / 16 * (2 * i + 1));
      sampled += blocksOf(sample);
    }
    EXPECT_LE(sampled, 16000 / SparseSlices::SampledPart);
    EXPECT_GE(sampled, 16000 / SparseSlices::SampledPart / 2);
  }
}

TEST(SparseSlicesTest, GroupsAreNeighbours) {
  const std::vector<BlockBox> all = slices(256, 10);
  SparseSlices sparse(all, 1);
  const auto &groups = sparse.group(16);
  EXPECT_GE(groups.size(), 16u);
  EXPECT_LE(groups.size(), 16u + 3 * SparseSlices::Samples);
  size_t first = 0;
  uint64_t blocks = 0;
  for (const SparseSlices::Group &group : groups) {
    uint64_t its = 0;
    for (size_t i = first; i < group.end; ++i)
      its += blocksOf(sparse.pieces()[i].box);
    EXPECT_EQ(its, blocksOf(group.box));
    blocks += its;
    first = group.end;
  }
  EXPECT_EQ(first, sparse.pieces().size());
  EXPECT_EQ(blocks, 2560u);
}

TEST(SparseSlicesTest, WhatHasRunComesFirst) {
  SparseSlices sparse(slices(64, 10), 1);
  EXPECT_EQ(sparse.numRan(), 0u);
  const auto groups = sparse.group(8);
  sparse.ran(9);
  EXPECT_EQ(sparse.numRan(), groups[8].end);
  sparse.ran(groups.size());
  EXPECT_EQ(sparse.numRan(), sparse.pieces().size());
}

/// 32,000 blocks for which 32 MB are missing: 1,000 bytes for each.
class DenseTest : public testing::Test {
protected:
  static constexpr double Rate = 1000;
  SparseSlices Sparse{slices(320, 100), 32'000'000};
  const std::vector<SparseSlices::Group> &Groups = Sparse.group(64);

  /// What groups [first, behind) need, so much of what copies would take.
  bool isDense(size_t first, size_t behind, double share) {
    double bytes = 0;
    for (size_t i = first; i < behind; ++i)
      bytes += double(blocksOf(Groups[i].box)) * Rate * share;
    return Sparse.isDense(behind, bytes);
  }
};

TEST_F(DenseTest, SamplesDecide) {
  EXPECT_FALSE(isDense(0, 1, 9)); // habits
  EXPECT_TRUE(isDense(1, SparseSlices::Samples, 1.1));
}

TEST_F(DenseTest, AFirstPartThatIsDenserIsNoReason) {
  EXPECT_FALSE(isDense(0, 1, 0));
  EXPECT_FALSE(isDense(1, SparseSlices::Samples, .5));
  EXPECT_FALSE(isDense(SparseSlices::Samples, SparseSlices::Samples + 2, 5));
}

TEST_F(DenseTest, HalfOfWhatCanBeSavedIsLost) {
  size_t at = SparseSlices::Samples;
  EXPECT_FALSE(isDense(0, 1, 0));
  EXPECT_FALSE(isDense(1, at, .1));
  // Each of them takes three times as long: a part of them is enough.
  size_t ran = 0;
  while (at + 1 < Groups.size() && !isDense(at, at + 1, 3)) {
    ++at;
    ++ran;
  }
  EXPECT_GT(ran, Groups.size() / 16);
  EXPECT_LT(ran, Groups.size() / 3);
}

TEST_F(DenseTest, TheHostLooksAgainBehindTwiceAsMany) {
  std::vector<size_t> looks;
  for (size_t i = 1; i <= 24; ++i)
    if (Sparse.isLookedAt(i))
      looks.push_back(i);
  EXPECT_EQ(looks, (std::vector<size_t>{1, 8, 9, 10, 12, 16, 24}));
}

} // namespace
