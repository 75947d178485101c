//===- ProgramMemoryTest.cpp - copies that are made where they are needed -===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/ProgramMemory.h"
#include "test/unit/support/files/FilesFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class ProgramMemoryTest : public FilesFixture {
protected:
  void begin(size_t chunks, uint64_t device, uint64_t host) {
    settings.deviceMemory = device;
    settings.hostMemory = host;
    ASSERT_NO_FATAL_FAILURE(startParts(chunks));
    Source = numbers(chunks * Words, 7);
  }
  /// All of the source behind all of the buffer.
  void mapAll() {
    Data = Source;
    ASSERT_OK(parts->Program.map(Whole->base, Whole->bytes, address(0), nullptr));
  }
  uintptr_t address(size_t word) const {
    return reinterpret_cast<uintptr_t>(Source.data() + word);
  }
  /// As a program does: it says so, and changes the memory.
  void change(size_t from, size_t count) {
    ASSERT_OK(parts->Program.settle(address(from), address(from + count)));
    std::fill_n(Source.begin() + long(from), count, -1);
  }
  size_t inStorage() const {
    return size_t(std::count_if(
        Chunks.begin(), Chunks.end(),
        [](const Chunk *chunk) { return chunk->copies.storage; }));
  }
  size_t onHost() const {
    return size_t(
        std::count_if(Chunks.begin(), Chunks.end(),
                      [](const Chunk *chunk) { return chunk->copies.host; }));
  }

  std::vector<int32_t> Source;
};

TEST_F(ProgramMemoryTest, IsOfUseWhereTheDeviceIsTooSmall) {
  ASSERT_NO_FATAL_FAILURE(begin(4, 8 * MiB, 16 * MiB));
  parts->Space.LiveBytes = 8 * MiB;
  EXPECT_FALSE(parts->Program.isWorthIt());
  parts->Space.LiveBytes = 8 * MiB + 1;
  EXPECT_TRUE(parts->Program.isWorthIt());
  parts->Space.LiveBytes = 0;
}

TEST_F(ProgramMemoryTest, FetchesFromThereEachTimeAndCopiesNothingBack) {
  ASSERT_NO_FATAL_FAILURE(begin(6, 4 * MiB, 32 * MiB));
  mapAll();
  EXPECT_EQ(onHost(), 0u);
  for (int round = 0; round < 3; ++round)
    EXPECT_TRUE(contentsBroughtIn() == Source) << round;
  EXPECT_EQ(moved(Direction::HostToDevice), 3 * 12 * MiB);
  EXPECT_EQ(moved(Direction::DeviceToHost, Cause::Eviction), 0u);
}

TEST_F(ProgramMemoryTest, WhatChangesIsCopiedBefore) {
  ASSERT_NO_FATAL_FAILURE(begin(6, 4 * MiB, 32 * MiB));
  mapAll();
  ASSERT_OK(bringIn(*Chunks[0], LaunchNeed::Read));
  ASSERT_OK(bringIn(*Chunks[1], LaunchNeed::Read));
  EXPECT_TRUE(parts->Program.mayHold(address(0), address(1)));
  change(Words / 2, 2 * Words); // ends in the third
  EXPECT_EQ(inStorage(), 3u);
  EXPECT_EQ(onHost(), 1u); // the first two are on the device
  change(0, Source.size());
  EXPECT_EQ(inStorage(), 0u);
  EXPECT_FALSE(parts->Program.mayHold(address(0), address(Source.size())));
  EXPECT_TRUE(contents() == Data);
}

/// Where a part of a chunk is elsewhere, it is read as files are.
TEST_F(ProgramMemoryTest, WhatIsReadAheadIsNotReadAnyMore) {
  ASSERT_NO_FATAL_FAILURE(begin(6, 4 * MiB, 32 * MiB));
  mapAll();
  ASSERT_OK(parts->Reads.start(Chunks));
  EXPECT_TRUE(parts->Reads.readings().empty());
  for (Chunk *chunk : Chunks) {
    chunk->storage.put({0, 64, PieceKind::Zero, nullptr, 0});
    std::fill_n(Data.begin() + long((chunk->va() - Whole->base) / 4), 16, 0);
  }
  ASSERT_OK(parts->Reads.start(Chunks));
  EXPECT_FALSE(parts->Reads.readings().empty());
  // Contents that end leave their reading behind.
  ASSERT_OK(parts->Data.forget(*Chunks[0]));
  change(0, Source.size());
  EXPECT_TRUE(parts->Reads.readings().empty());
  std::vector<int32_t> found = contents();
  EXPECT_TRUE(
      std::equal(found.begin() + Words, found.end(), Data.begin() + Words));
}

TEST_F(ProgramMemoryTest, GoesToSwapWhereTheHostIsFull) {
  ASSERT_NO_FATAL_FAILURE(begin(16, 4 * MiB, 8 * MiB));
  mapAll();
  change(0, Source.size());
  EXPECT_GT(moved(Direction::HostToSwap), 0u);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ProgramMemoryTest, DeadContentsAreNotCopied) {
  ASSERT_NO_FATAL_FAILURE(begin(4, 4 * MiB, 32 * MiB));
  mapAll();
  for (Chunk *chunk : Chunks)
    ASSERT_OK(parts->Data.forget(*chunk));
  change(0, Source.size());
  EXPECT_EQ(onHost(), 0u);
}

TEST_F(ProgramMemoryTest, OtherMemoryIsLeftAlone) {
  ASSERT_NO_FATAL_FAILURE(begin(4, 4 * MiB, 32 * MiB));
  mapAll();
  std::vector<int32_t> other(Words);
  ASSERT_OK(parts->Program.settle(
      reinterpret_cast<uintptr_t>(other.data()),
      reinterpret_cast<uintptr_t>(other.data() + other.size())));
  EXPECT_EQ(inStorage(), 4u);
}

} // namespace
