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
    ASSERT_OK(
        parts->Program.map(Whole->base, Whole->bytes, address(0), nullptr));
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
    return size_t(
        std::count_if(Chunks.begin(), Chunks.end(), [](const Chunk *chunk) {
          return chunk->copies.storage;
        }));
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

// -- Results ------------------------------------------------------------------

class ResultPlaceTest : public ProgramMemoryTest {
protected:
  /// The buffer is written on the device, and leaves it, but for some chunks.
  void computeAndEvict(size_t chunks, size_t evicted) {
    ASSERT_NO_FATAL_FAILURE(begin(chunks, 64 * MiB, 128 * MiB));
    Place.assign(chunks * Words, -1);
    write(0, Source);
    for (Chunk *chunk : Chunks) {
      ASSERT_OK(bringIn(*chunk, LaunchNeed::Write));
      ASSERT_OK(parts->Data.wroteDevice(*chunk));
    }
    ASSERT_OK(parts->Program.announce(Whole->base, Whole->bytes,
                                      reinterpret_cast<uintptr_t>(Place.data()),
                                      nullptr));
    ASSERT_OK(evict(0, evicted));
    ASSERT_OK(parts->Writes.finishAll());
  }
  Status copyOut() {
    return parts->Moves.fromBuffer(
        *Whole, reinterpret_cast<char *>(Place.data()), Whole->base,
        Whole->bytes, nullptr, {/*pageable=*/true});
  }

  std::vector<int32_t> Place;
};

TEST_F(ResultPlaceTest, WhatLeavesTheDeviceIsThereAndNowhereElse) {
  ASSERT_NO_FATAL_FAILURE(computeAndEvict(6, 4));
  EXPECT_EQ(onHost(), 0u);
  EXPECT_EQ(inStorage(), 4u);
  EXPECT_TRUE(
      std::equal(Data.begin(), Data.begin() + 4 * Words, Place.begin()));
  EXPECT_EQ(Place.back(), -1);
  const uint64_t before = moved(Direction::DeviceToHost);
  ASSERT_OK(copyOut());
  EXPECT_TRUE(Place == Data);
  EXPECT_EQ(moved(Direction::DeviceToHost) - before, 2 * 2 * MiB);
  EXPECT_TRUE(Whole->sinks.empty());
}

TEST_F(ResultPlaceTest, WhatIsNeededAgainComesFromThere) {
  ASSERT_NO_FATAL_FAILURE(computeAndEvict(4, 4));
  EXPECT_TRUE(contentsBroughtIn() == Data);
  // And changes, and leaves once more.
  for (Chunk *chunk : Chunks)
    ASSERT_OK(bringIn(*chunk, LaunchNeed::Write));
  std::vector<int32_t> other = numbers(Words, 3);
  write(Words, other);
  ASSERT_OK(evict(0, 4));
  ASSERT_OK(copyOut());
  EXPECT_TRUE(Place == Data);
}

TEST_F(ResultPlaceTest, ThePlaceMayBeGoneBeforeTheCopy) {
  ASSERT_NO_FATAL_FAILURE(computeAndEvict(6, 4));
  const auto begin = reinterpret_cast<uintptr_t>(Place.data());
  ASSERT_OK(parts->Program.settle(begin, begin + Place.size() * 4));
  std::fill(Place.begin(), Place.end(), -2);
  EXPECT_EQ(inStorage(), 0u);
  EXPECT_TRUE(Whole->sinks.empty());
  EXPECT_TRUE(contents() == Data);
  // Nothing goes there any more.
  ASSERT_OK(evict(0, 6));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_EQ(std::count(Place.begin(), Place.end(), -2), long(Place.size()));
}

TEST_F(ResultPlaceTest, SettlesWhileResultsAreOnTheirWay) {
  ASSERT_NO_FATAL_FAILURE(begin(6, 64 * MiB, 128 * MiB));
  Place.assign(6 * Words, -1);
  write(0, Source);
  const auto from = reinterpret_cast<uintptr_t>(Place.data());
  ASSERT_OK(parts->Program.announce(Whole->base, Whole->bytes, from, nullptr));
  for (Chunk *chunk : Chunks) {
    ASSERT_OK(bringIn(*chunk, LaunchNeed::Write));
    ASSERT_OK(parts->Data.wroteDevice(*chunk));
  }
  ASSERT_OK(evict(0, 6));
  ASSERT_OK(parts->Program.settle(from, from + Place.size() * 4));
  EXPECT_FALSE(parts->Writes.any());
  std::fill(Place.begin(), Place.end(), -2);
  EXPECT_TRUE(contents() == Data);
}

} // namespace
