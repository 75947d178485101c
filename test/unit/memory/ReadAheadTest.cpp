//===- ReadAheadTest.cpp - reads of storage that run meanwhile ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ReadAhead.h"
#include "test/unit/support/memory/MemoryFixture.h"
#include "test/unit/support/tier/PinnedBytes.h"

#include <algorithm>
#include <filesystem>

using namespace dragon;
using namespace dragon::test;

namespace {

class ReadAheadTest : public MemoryFixture {
protected:
  void open(uint64_t hostMemory, size_t chunks) {
    settings.hostMemory = hostMemory;
    ASSERT_NO_FATAL_FAILURE(startParts(chunks));
    Data = numbers(chunks * Words, 9);
    writeFile("in", Data);
    storeIn(FolderFixture::open("in"));
  }
};

TEST_F(ReadAheadTest, whatWasReadAheadIsNotReadAgain) {
  open(64 * MiB, 8); // 16 MiB of transit memory
  ASSERT_OK(parts->Reads.start(Chunks));
  // Half of the transit memory.
  EXPECT_EQ(parts->Reads.bytes(), 8 * MiB);
  EXPECT_EQ(parts->Slabs.Pool.used(), 8 * MiB);
  // Lent, so that others have all that is not for transit.
  EXPECT_TRUE(
      parts->Slabs.Pool.hasRoom(48 * MiB, parts->Ctx.limits.transitBytes));
  ASSERT_OK(parts->Reads.start(Chunks)); // again: nothing new
  EXPECT_EQ(parts->Reads.bytes(), 8 * MiB);
  EXPECT_EQ(parts->Ctx.ledger.bytes(Direction::FileToHost),
            0u); // not yet of use
  EXPECT_TRUE(contentsBroughtIn() == Data);
  EXPECT_EQ(parts->Ctx.ledger.bytes(Direction::FileToHost), Whole->bytes);
  EXPECT_EQ(parts->Reads.bytes(), 0u);
  EXPECT_EQ(parts->Slabs.Pool.used(), 0u);
}

TEST_F(ReadAheadTest, overwrittenMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(parts->Reads.start(Chunks));
  auto fresh = numbers(Words + 5, 77);
  ASSERT_OK(parts->Moves.toBuffer(
      *Whole, Whole->base, reinterpret_cast<const char *>(fresh.data()),
      fresh.size() * 4, nullptr, {/*pageable=*/true}));
  std::copy(fresh.begin(), fresh.end(), Data.begin());
  EXPECT_TRUE(contentsBroughtIn() == Data);
  // What is out of date is given up as soon as it has been read.
  for (const Reading &reading : parts->Reads.readings())
    ASSERT_OK(parts->Store.Background->wait(*reading.job));
  ASSERT_OK(parts->Reads.start(Chunks));
  EXPECT_EQ(parts->Reads.bytes(), 0u);
}

TEST_F(ReadAheadTest, zerosMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(parts->Reads.start(Chunks));
  ASSERT_OK(parts->Moves.fill(*Whole, Whole->base, 0, 4, Data.size(), nullptr));
  std::fill(Data.begin(), Data.end(), 0);
  EXPECT_TRUE(contentsBroughtIn() == Data);
}

TEST_F(ReadAheadTest, bufferEndsMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(parts->Reads.start(Chunks));
  ASSERT_OK(free(*Whole));
  EXPECT_EQ(parts->Reads.bytes(), 0u);
  EXPECT_EQ(parts->Slabs.Pool.used(), 0u);
}

TEST_F(ReadAheadTest, partsEndMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(parts->Reads.start(Chunks));
}

TEST_F(ReadAheadTest, fileBecameShorter) {
  open(64 * MiB, 4);
  std::filesystem::resize_file(path("in"), 3 * 2 * MiB);
  ASSERT_OK(parts->Reads.start(Chunks)); // nobody has asked for it yet
  const ChunkUse use = useOfAll(*Chunks[3], LaunchNeed::Read);
  parts->Ctx.pins.next();
  Status status = parts->Resident.bringIn({&use, 1}, nullptr, Cause::Demand);
  EXPECT_EQ(status.code(), DRAGON_ERROR_FILE_CHANGED) << status.message();
  // What is overwritten needs no file.
  std::fill(Data.begin(), Data.end(), 3);
  ASSERT_OK(parts->Moves.toBuffer(
      *Whole, Whole->base, reinterpret_cast<const char *>(Data.data()),
      Data.size() * 4, nullptr, {/*pageable=*/true}));
  EXPECT_TRUE(contentsBroughtIn() == Data);
}

TEST_F(ReadAheadTest, hostMemoryIsNeededForOthers) {
  open(8 * MiB, 4); // a chunk of transit memory
  auto slab = parts->Slabs.Pool.take(2 * MiB);
  ASSERT_TRUE(slab.ok());
  parts->Reads.begin(*Chunks[0], *slab);
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(parts->Resident.bringToHost(*Chunks[size_t(i) + 1],
                                          LaunchNeed::Read, Cause::Demand));
    parts->Ctx.pins.next();
  }
  EXPECT_TRUE(contentsBroughtIn() == Data);
}

// io_uring keeps the pages of host memory pinned for as long as there is the
// slab, and no longer: its address may be other memory's afterwards.
TEST_F(ReadAheadTest, slabsAreRegisteredWhileTheyLive) {
  const uint64_t before = pinnedBytes();
  open(64 * MiB, 4);
  parts->Ctx.pins.next();
  for (Chunk *chunk : Chunks) {
    const ChunkUse use = useOfAll(*chunk, LaunchNeed::Read);
    ASSERT_OK(parts->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
  }
  EXPECT_TRUE(contentsBroughtIn() == Data);
  const uint64_t pinned = pinnedBytes();
  if (pinned == before)
    GTEST_SKIP() << "no memory can be registered (ulimit -l, or the kernel)";
  EXPECT_EQ((pinned - before) % (2 * MiB), 0u);
  ASSERT_OK(free(*Whole));
  ASSERT_OK(parts->Time.synchronizeAll());
  ASSERT_OK(parts->Slabs.recycleTransit(false));
  EXPECT_EQ(pinnedBytes(), pinned); // what is kept may be used again
  parts->Slabs.Pool.trim();
  EXPECT_EQ(pinnedBytes(before), before);
}

} // namespace
