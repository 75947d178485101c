//===- StorageTest.cpp - a chunk's copy in storage ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
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
  ASSERT_EQ(storage.numberOfPieces(), 1u);
  EXPECT_EQ((*storage.pieces().begin()).end, 30u);
  storage.put({5, 6, PieceKind::Swap, nullptr, 0});
  EXPECT_EQ(storage.numberOfPieces(), 3u);
}

TEST(StorageTest, ZerosContinueEachOtherUnlessAFileHasThem) {
  Storage storage;
  storage.put({0, 10, PieceKind::Zero, nullptr, 0});
  storage.put({10, 20, PieceKind::Zero, nullptr, 500});
  ASSERT_EQ(storage.numberOfPieces(), 1u);
  EXPECT_EQ((*storage.pieces().begin()).end, 20u);
  auto fd = openUnnamed(testing::TempDir());
  ASSERT_TRUE(fd.ok());
  auto file = BackingFile::adopt(*fd, "zeros", /*writable=*/true);
  ASSERT_TRUE(file.ok());
  storage.put({20, 30, PieceKind::Zero, *file, 100});
  storage.put({30, 40, PieceKind::Zero, *file, 110});
  EXPECT_EQ(storage.numberOfPieces(), 2u);
  storage.put({40, 50, PieceKind::Zero, *file, 0});
  ASSERT_EQ(storage.numberOfPieces(), 3u);
  storage.erase(20, 25);
  const Piece cut = *std::next(storage.pieces().begin());
  EXPECT_EQ(cut.begin, 25u);
  EXPECT_EQ(cut.end, 40u);
  EXPECT_TRUE(cut.isAt(**file, 105));
}

TEST(StorageTest, CoversIsAsEachByteIs) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    Storage storage;
    std::vector<bool> there(24);
    for (int piece = 0; piece < 4; ++piece) {
      const size_t begin = random() % 24,
                   end = begin + 1 + random() % (24 - begin);
      const bool erases = random() % 3 == 0;
      const uint64_t before = storage.changes();
      if (erases)
        storage.erase(begin, end);
      else
        storage.put({begin, end, PieceKind::Zero, nullptr, 0});
      ASSERT_GT(storage.changes(), before);
      std::fill(there.begin() + long(begin), there.begin() + long(end),
                !erases);
    }
    for (size_t begin = 0; begin < 24; ++begin)
      for (size_t end = begin + 1; end <= 24; ++end)
        ASSERT_EQ(storage.covers(begin, end),
                  std::find(there.begin() + long(begin),
                            there.begin() + long(end),
                            false) == there.begin() + long(end));
    ASSERT_EQ(storage.undefined(),
              std::find(there.begin(), there.end(), true) == there.end());
  }
}

/// What costs most to fetch is what the whole is.
TEST(StorageTest, TheWholeIsWhatItsPiecesAre) {
  Storage storage;
  EXPECT_EQ(storage.kind(), Stored::Undefined);
  storage.put({10, 20, PieceKind::Zero, nullptr, 0});
  EXPECT_EQ(storage.kind(), Stored::Zero);
  EXPECT_FALSE(storage.hasSwap());
  storage.put({0, 5, PieceKind::Swap, nullptr, 0});
  EXPECT_EQ(storage.kind(), Stored::Swap);
  EXPECT_TRUE(storage.hasSwap());
  storage.put({15, 30, PieceKind::File, nullptr, 0});
  EXPECT_EQ(storage.kind(), Stored::File);
  storage.put({15, 30, PieceKind::Zero, nullptr, 0});
  EXPECT_EQ(storage.kind(), Stored::Swap);
  storage.erase(0, 5);
  EXPECT_EQ(storage.kind(), Stored::Zero);
  const uint64_t before = storage.changes();
  storage.clear();
  EXPECT_GT(storage.changes(), before);
  EXPECT_EQ(storage.kind(), Stored::Undefined);
}

} // namespace
