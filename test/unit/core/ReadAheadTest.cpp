//===- ReadAheadTest.cpp - reads of storage that run meanwhile ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ReadAhead.h"
#include "test/unit/support/core/ImplFixture.h"
#include "test/unit/support/tier/PinnedBytes.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

using namespace dragon;
using namespace dragon::test;

namespace {

class ReadAheadTest : public ImplFixture {
protected:
  static constexpr size_t Chunk4 = 2 * MiB / 4; ///< words of a chunk

  void open(uint64_t hostMemory, size_t chunks) {
    settings.hostMemory = hostMemory;
    ASSERT_NO_FATAL_FAILURE(startImpl(chunks));
    Data = numbers(chunks * Chunk4, 9);
    writeFile("in", Data);
    ASSERT_OK(impl->Maps.mapRange(Whole->base, Whole->bytes,
                                  RuntimeFixture::open("in"), 0));
  }
  std::vector<int32_t> contents() {
    std::vector<int32_t> result(Data.size());
    for (Chunk *chunk : Chunks) {
      const ChunkUse use = useOfAll(*chunk, LaunchNeed::Read);
      impl->Ctx.pins.next();
      EXPECT_OK(impl->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
    }
    EXPECT_OK(impl->Moves.fromBuffer(
        *Whole, reinterpret_cast<char *>(result.data()), Whole->base,
        Whole->bytes, nullptr, {/*pageable=*/false}));
    return result;
  }

  std::vector<int32_t> Data;
};

TEST_F(ReadAheadTest, whatWasReadAheadIsNotReadAgain) {
  open(64 * MiB, 8); // 16 MiB of transit memory
  ASSERT_OK(impl->Reads.start(Chunks));
  // Half of the transit memory.
  EXPECT_EQ(impl->Reads.bytes(), 8 * MiB);
  EXPECT_EQ(impl->Slabs.Pool.used(), 8 * MiB);
  // Lent, so that others have all that is not for transit.
  EXPECT_TRUE(
      impl->Slabs.Pool.hasRoom(48 * MiB, impl->Ctx.limits.transitBytes));
  ASSERT_OK(impl->Reads.start(Chunks)); // again: nothing new
  EXPECT_EQ(impl->Reads.bytes(), 8 * MiB);
  EXPECT_EQ(impl->Ctx.ledger.bytes(Direction::FileToHost),
            0u); // not yet of use
  EXPECT_TRUE(contents() == Data);
  EXPECT_EQ(impl->Ctx.ledger.bytes(Direction::FileToHost), Whole->bytes);
  EXPECT_EQ(impl->Reads.bytes(), 0u);
  EXPECT_EQ(impl->Slabs.Pool.used(), 0u);
}

TEST_F(ReadAheadTest, overwrittenMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(impl->Reads.start(Chunks));
  auto fresh = numbers(Chunk4 + 5, 77);
  ASSERT_OK(impl->Moves.toBuffer(
      *Whole, Whole->base, reinterpret_cast<const char *>(fresh.data()),
      fresh.size() * 4, nullptr, {/*pageable=*/true}));
  std::copy(fresh.begin(), fresh.end(), Data.begin());
  EXPECT_TRUE(contents() == Data);
  // What is out of date is given up as soon as it has been read.
  for (const Reading &reading : impl->Reads.readings())
    ASSERT_OK(impl->Store.Background->wait(*reading.job));
  ASSERT_OK(impl->Reads.start(Chunks));
  EXPECT_EQ(impl->Reads.bytes(), 0u);
}

TEST_F(ReadAheadTest, otherStorageMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(impl->Reads.start(Chunks));
  auto other = numbers(Data.size(), 78);
  writeFile("other", other);
  const size_t begin = Chunk4 / 2, count = 2 * Chunk4;
  ASSERT_OK(impl->Maps.mapRange(Whole->base + begin * 4, count * 4,
                                RuntimeFixture::open("other"), 4096));
  std::copy_n(other.begin() + 1024, count, Data.begin() + long(begin));
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ReadAheadTest, zerosMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(impl->Reads.start(Chunks));
  ASSERT_OK(impl->Moves.fill(*Whole, Whole->base, 0, 4, Data.size(), nullptr));
  std::fill(Data.begin(), Data.end(), 0);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ReadAheadTest, fileLeavesMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(impl->Reads.start(Chunks));
  auto file = RuntimeFixture::open("in");
  // The program is about to change the file: contents go to swap.
  ASSERT_OK(impl->Announced.detach(file->deviceId(), file->inode(), 0,
                                   INT64_MAX, nullptr, 0));
  writeFile("in", numbers(Data.size(), 4));
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ReadAheadTest, bufferEndsMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(impl->Reads.start(Chunks));
  ASSERT_OK(impl->free(Whole->base));
  EXPECT_EQ(impl->Reads.bytes(), 0u);
  EXPECT_EQ(impl->Slabs.Pool.used(), 0u);
}

TEST_F(ReadAheadTest, runtimeEndsMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(impl->Reads.start(Chunks));
}

TEST_F(ReadAheadTest, fileBecameShorter) {
  open(64 * MiB, 4);
  std::filesystem::resize_file(path("in"), 3 * 2 * MiB);
  ASSERT_OK(impl->Reads.start(Chunks)); // nobody has asked for it yet
  const ChunkUse use = useOfAll(*Chunks[3], LaunchNeed::Read);
  impl->Ctx.pins.next();
  Status status = impl->Resident.bringIn({&use, 1}, nullptr, Cause::Demand);
  EXPECT_EQ(status.code(), DRAGON_ERROR_FILE_CHANGED) << status.message();
  // What is overwritten needs no file.
  std::fill(Data.begin(), Data.end(), 3);
  ASSERT_OK(impl->Moves.toBuffer(
      *Whole, Whole->base, reinterpret_cast<const char *>(Data.data()),
      Data.size() * 4, nullptr, {/*pageable=*/true}));
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ReadAheadTest, hostMemoryIsNeededForOthers) {
  open(8 * MiB, 4); // a chunk of transit memory
  auto slab = impl->Slabs.Pool.take(2 * MiB);
  ASSERT_TRUE(slab.ok());
  impl->Reads.begin(*Chunks[0], *slab);
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(impl->Resident.bringToHost(*Chunks[size_t(i) + 1],
                                         LaunchNeed::Read, Cause::Demand));
    impl->Ctx.pins.next();
  }
  EXPECT_TRUE(contents() == Data);
}

// io_uring keeps the pages of host memory pinned for as long as there is the
// slab, and no longer: its address may be other memory's afterwards.
TEST_F(ReadAheadTest, slabsAreRegisteredWhileTheyLive) {
  const uint64_t before = pinnedBytes();
  open(64 * MiB, 4);
  impl->Ctx.pins.next();
  for (Chunk *chunk : Chunks) {
    const ChunkUse use = useOfAll(*chunk, LaunchNeed::Read);
    ASSERT_OK(impl->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
  }
  EXPECT_TRUE(contents() == Data);
  const uint64_t pinned = pinnedBytes();
  if (pinned == before)
    GTEST_SKIP() << "no memory can be registered (ulimit -l, or the kernel)";
  EXPECT_EQ((pinned - before) % (2 * MiB), 0u);
  ASSERT_OK(impl->free(Whole->base));
  impl->quiesce().ignore();
  EXPECT_EQ(pinnedBytes(), pinned); // what is kept may be used again
  impl->Slabs.Pool.trim();
  EXPECT_EQ(pinnedBytes(before), before);
}

} // namespace
