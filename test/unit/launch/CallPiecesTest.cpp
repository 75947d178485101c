//===- CallPiecesTest.cpp - how a library call is cut ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/CallPieces.h"

#include <algorithm>
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <tuple>

using namespace dragon;

namespace {

using Dimension = CallPieces::Dimension;
using Use = CallPieces::Use;
/// What a piece of these sizes uses.
using UsesOf = std::function<std::vector<Use>(const std::vector<int64_t> &)>;

struct Cut : CallPieces {
  explicit Cut(std::vector<Dimension> dimensions)
      : CallPieces(dimensions), Number(dimensions.size()) {}

  std::vector<int64_t> sizes() const {
    std::vector<int64_t> all;
    for (size_t d = 0; d < Number; ++d)
      all.push_back(count(d));
    return all;
  }
  static uint64_t total(const std::vector<Use> &uses) {
    uint64_t bytes = 0;
    for (const Use &use : uses)
      bytes += use.bytes;
    return bytes;
  }
  /// The last answer, and how often it was asked.
  std::pair<Answer, int> find(const UsesOf &usesOf, uint64_t room) {
    for (int asked = 1;; ++asked) {
      const std::vector<Use> uses = usesOf(sizes());
      const Answer answer = weigh({total(uses), room, uses});
      if (answer != Answer::Again || asked == 10000)
        return {answer, asked};
    }
  }

  size_t Number;
};

/// Words of C (m x n) = A (m x k) B (k x n), cut well along n, m and k.
std::vector<Use> product(const std::vector<int64_t> &nmk) {
  const auto n = uint64_t(nmk[0]), m = uint64_t(nmk[1]), k = uint64_t(nmk[2]);
  return {{m * k, 1, false}, {k * n, 1, false}, {m * n, 1, true}};
}

TEST(CallPiecesTest, WhatFitsIsOnePiece) {
  Cut cut({{100, true, false}, {100, true, false}, {100, true, true}});
  const auto [answer, asked] = cut.find(product, 30000);
  EXPECT_EQ(answer, CallPieces::Answer::Settled);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(cut.sizes(), (std::vector<int64_t>{100, 100, 100}));
  EXPECT_TRUE(cut.isSettled());
  EXPECT_FALSE(cut.advance());
}

TEST(CallPiecesTest, TheLargestOperandIsCut) {
  // A is large, C is thin: two panels of A have room.
  Cut cut({{64, true, false}, {65536, true, false}, {1024, true, true}});
  ASSERT_EQ(cut.find(product, 40u << 20).first, CallPieces::Answer::Settled);
  const std::vector<int64_t> sizes = cut.sizes();
  EXPECT_EQ(sizes[0], 64);
  EXPECT_LT(sizes[1], 20480);
  EXPECT_EQ(sizes[2], 1024);
}

TEST(CallPiecesTest, AnOperandStaysWhileTheOtherStreams) {
  // A by rows (m), B and C by columns (n); k helps nobody. Of 3 x 4096^2 words
  // a quarter has room: large panels of B and C, small ones of A.
  const int64_t size = 4096;
  const UsesOf panels = [&](const auto &nmk) -> std::vector<Use> {
    return {{uint64_t(nmk[1] * size), 4096, false},
            {uint64_t(nmk[0] * size), 4096, false},
            {uint64_t(nmk[0] * size), 4096, true}};
  };
  Cut cut({{size, true, false}, {size, true, false}, {size, true, true}});
  const auto room = uint64_t(3 * size * size / 4);
  ASSERT_EQ(cut.find(panels, room).first, CallPieces::Answer::Settled);
  const std::vector<int64_t> sizes = cut.sizes();
  EXPECT_EQ(sizes[0], 1024);
  EXPECT_LE(sizes[1], 512);
  EXPECT_EQ(sizes[2], size);
}

TEST(CallPiecesTest, OnePieceWillDoWhereNoMoreCanBeHad) {
  // Of 1000 bytes 700 are always needed.
  Cut cut({{64, true, false}});
  const UsesOf uses = [](const auto &sizes) -> std::vector<Use> {
    return {{700, 1, false}, {uint64_t(sizes[0] * 10), 1, false}};
  };
  EXPECT_EQ(cut.find(uses, 710).first, CallPieces::Answer::Settled);
  EXPECT_EQ(cut.sizes()[0], 1);
  Cut less({{64, true, false}});
  EXPECT_EQ(less.find(uses, 700).first, CallPieces::Answer::Impossible);
  EXPECT_TRUE(less.isSettled());
}

TEST(CallPiecesTest, APlaceAcrossTwoChunksIsLeftByAndBy) {
  // Three chunks unless no more than 100 steps are used; halves from 1024 on
  // need as many for long. The other dimension never helps.
  Cut cut({{1000, true, false}, {1024, true, false}});
  const UsesOf uses = [](const auto &sizes) -> std::vector<Use> {
    return {{sizes[1] > 100 ? 3000u : 1000u, 1000, false}};
  };
  EXPECT_EQ(cut.find(uses, 2500).first, CallPieces::Answer::Settled);
  EXPECT_EQ(cut.sizes()[0], 1000);
  EXPECT_EQ(cut.sizes()[1], 64);
}

TEST(CallPiecesTest, WhereNoneHelpsByItselfSeveralDo) {
  Cut cut({{2, true, false}, {256, true, false}});
  const UsesOf uses = [](const auto &sizes) -> std::vector<Use> {
    return {{sizes[0] > 1 || sizes[1] > 50 ? 3000u : 1000u, 1000, false}};
  };
  EXPECT_EQ(cut.find(uses, 2500).first, CallPieces::Answer::Settled);
  EXPECT_EQ(cut.sizes(), (std::vector<int64_t>{1, 32}));
}

/// A library is called for nothing, with operands as large as they may be.
TEST(CallPiecesTest, OfNothingThereIsOnePiece) {
  Cut cut({{0, true, false}, {65536, true, false}, {-1, true, true}});
  const UsesOf uses = [](const auto &sizes) -> std::vector<Use> {
    return {{uint64_t(sizes[1]), 1, false}};
  };
  ASSERT_EQ(cut.find(uses, 40000).first, CallPieces::Answer::Settled);
  const std::vector<int64_t> sizes = cut.sizes();
  EXPECT_EQ(sizes[0], 0);
  EXPECT_LT(sizes[1], 40000);
  EXPECT_EQ(sizes[2], -1);
  for (int64_t end = sizes[1]; end < 65536; end += cut.count(1)) {
    ASSERT_TRUE(cut.advance());
    EXPECT_EQ(cut.begin(0), 0);
    EXPECT_EQ(cut.begin(1), end);
    EXPECT_EQ(cut.begin(2), 0);
  }
  EXPECT_FALSE(cut.advance());
}

TEST(CallPiecesTest, WhatMayNotBeCutIsNot) {
  Cut cut({{64, false, false}, {512, true, false}, {8192, false, true}});
  EXPECT_EQ(cut.find(product, 200'000).first, CallPieces::Answer::Impossible);
  EXPECT_EQ(cut.sizes()[0], 64);
  EXPECT_EQ(cut.sizes()[2], 8192);
}

/// Each piece of it, and that all has been covered once.
void expectAllOnce(CallPieces &cut, const std::array<int64_t, 3> &counts,
                   const std::function<void()> &see) {
  std::vector<char> seen(size_t(counts[0] * counts[1] * counts[2]));
  do {
    see();
    for (int64_t i = cut.begin(0); i < cut.begin(0) + cut.count(0); ++i)
      for (int64_t j = cut.begin(1); j < cut.begin(1) + cut.count(1); ++j)
        for (int64_t l = cut.begin(2); l < cut.begin(2) + cut.count(2); ++l)
          EXPECT_EQ(seen[size_t((i * counts[1] + j) * counts[2] + l)]++, 0);
  } while (cut.advance());
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ssize(seen));
}

TEST(CallPiecesTest, EachPieceIsANeighbourOfTheLast) {
  Cut cut({{50, true, false}, {70, true, false}, {30, true, false}});
  ASSERT_EQ(cut.find(product, 1000).first, CallPieces::Answer::Settled);
  std::vector<std::array<int64_t, 3>> begins;
  expectAllOnce(cut, {50, 70, 30}, [&] {
    begins.push_back({cut.begin(0), cut.begin(1), cut.begin(2)});
  });
  ASSERT_GT(begins.size(), 27u);
  for (size_t i = 1; i < begins.size(); ++i) {
    int changed = 0;
    for (size_t d = 0; d < 3; ++d)
      changed += begins[i][d] != begins[i - 1][d];
    EXPECT_EQ(changed, 1) << i;
  }
}

TEST(CallPiecesTest, WhatAddsUpBeginsAtTheFirst) {
  Cut cut({{50, true, false}, {70, true, false}, {30, true, true}});
  ASSERT_EQ(cut.find(product, 1000).first, CallPieces::Answer::Settled);
  int64_t n = -1, m = -1, k = 0;
  expectAllOnce(cut, {50, 70, 30}, [&] {
    if (cut.begin(0) != n || cut.begin(1) != m)
      k = 0;
    EXPECT_EQ(cut.begin(2), k);
    std::tie(n, m) = std::pair(cut.begin(0), cut.begin(1));
    k += cut.count(2);
  });
}

} // namespace
