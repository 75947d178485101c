//===- StorageTest.cpp - a chunk's copy in storage ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace dragon;

namespace {

TEST(StorageTest, AgreesWithAMapOfBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Storage storage;
    constexpr size_t Size = 64;
    // What each byte is: -1 undefined, -2 zero, else its offset in the file.
    std::vector<int64_t> model(Size, -1);
    for (int step = 0; step < 20; ++step) {
      size_t begin = random() % Size,
             end = begin + 1 + random() % (Size - begin);
      switch (random() % 3) {
      case 0:
        storage.erase(begin, end);
        std::fill(model.begin() + begin, model.begin() + end, -1);
        break;
      case 1:
        storage.put({begin, end, PieceKind::Zero, nullptr, 0});
        std::fill(model.begin() + begin, model.begin() + end, -2);
        break;
      default: {
        int64_t offset = random() % 2 ? int64_t(begin) : random() % 1000;
        storage.put({begin, end, PieceKind::Swap, nullptr, offset});
        for (size_t i = begin; i < end; ++i)
          model[i] = offset + int64_t(i - begin);
        break;
      }
      }
      std::vector<int64_t> actual(Size, -1);
      size_t last = 0;
      for (const Piece &piece : storage.pieces()) {
        ASSERT_LT(piece.begin, piece.end);
        ASSERT_GE(piece.begin, last);
        last = piece.end;
        for (size_t i = piece.begin; i < piece.end; ++i)
          actual[i] = piece.kind == PieceKind::Zero
                          ? -2
                          : piece.offset + int64_t(i - piece.begin);
      }
      ASSERT_EQ(actual, model);
      bool all = std::count(model.begin(), model.end(), -1) == 0;
      ASSERT_EQ(storage.covers(0, Size), all);
    }
  }
}

TEST(StorageTest, PiecesThatContinueAreJoined) {
  Storage storage;
  storage.put({0, 10, PieceKind::Swap, nullptr, 100});
  storage.put({20, 30, PieceKind::Swap, nullptr, 120});
  storage.put({10, 20, PieceKind::Swap, nullptr, 110});
  ASSERT_EQ(storage.pieces().size(), 1u);
  EXPECT_EQ(storage.pieces()[0].end, 30u);
  storage.put({5, 6, PieceKind::Swap, nullptr, 0});
  EXPECT_EQ(storage.pieces().size(), 3u);
}

} // namespace
