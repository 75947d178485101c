//===- FileMapsTest.cpp - files under buffers -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/FileMaps.h"
#include "test/unit/support/files/FilesFixture.h"

#include <random>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

class FileMapsTest : public FilesFixture {
protected:
  /// With a file of as many words as the buffer.
  void begin(size_t chunks) {
    settings.deviceMemory = 8 * MiB;
    settings.hostMemory = 32 * MiB;
    ASSERT_NO_FATAL_FAILURE(startParts(chunks));
    Filed = numbers(chunks * Words, 51);
    writeFile("in", Filed);
    In = FolderFixture::open("in", true);
  }
  /// Words of the file, for the buffer and for what it should be.
  Status map(size_t to, size_t from, size_t count) {
    DRAGON_TRY(parts->Maps.mapRange(Whole->base + to * 4, count * 4, In,
                                    int64_t(from * 4)));
    std::copy_n(Filed.begin() + long(from), count, Data.begin() + long(to));
    return {};
  }
  /// A new buffer that is a map of the file.
  Buffer *mapNew(size_t chunks, unsigned flags, uint64_t sizeBefore) {
    Buffer *made = makeBuffer(chunks, "map", flags);
    EXPECT_OK(
        parts->Maps.map({made->base, made->bytes, In, 0, sizeBefore, flags}));
    return made;
  }
  std::vector<int32_t> contentsOf(Buffer &buffer) {
    std::vector<int32_t> result(buffer.bytes / 4);
    EXPECT_OK(parts->Moves.fromBuffer(
        buffer, reinterpret_cast<char *>(result.data()), buffer.base,
        buffer.bytes, nullptr, {/*pageable=*/false}));
    return result;
  }

  std::vector<int32_t> Filed;
  std::shared_ptr<BackingFile> In;
};

/// Wherever the rest of a chunk is when a part of it becomes the file's.
TEST_F(FileMapsTest, ContentsAreWhatWasMappedOrWrittenLast) {
  constexpr size_t Count = 4;
  ASSERT_NO_FATAL_FAILURE(begin(Count));
  std::mt19937 random(41);
  write(0, numbers(Count * Words, 1));
  for (int step = 0; step < 120; ++step) {
    parts->Time.Tracking = step > 20;
    auto word = [&] {
      const size_t some = random() % (Count * Words);
      return random() % 3 ? some : some / Words * Words;
    };
    size_t from = word(), to = word();
    if (from > to)
      std::swap(from, to);
    const size_t count = to - from;
    switch (random() % 6) {
    case 0:
    case 1:
      if (count) {
        const size_t source = random() % (Count * Words - count);
        ASSERT_OK(map(from, random() % 2 ? source : from, count));
      }
      break;
    case 2:
      if (count)
        write(from, numbers(count, uint32_t(step)));
      break;
    case 3:
      ASSERT_OK(evict(0, Count));
      break;
    case 4:
      ASSERT_OK(writeOnHost(*Chunks[random() % Count]));
      break;
    default:
      ASSERT_OK(bringIn(*Chunks[random() % Count], LaunchNeed::Read));
      break;
    }
    ASSERT_FALSE(HasFatalFailure());
    if (step % 4 == 3)
      ASSERT_TRUE(contents() == Data) << step;
  }
  EXPECT_TRUE(contentsBroughtIn() == Data);
  EXPECT_TRUE(readFile("in") == Filed);
}

TEST_F(FileMapsTest, WhatIsMappedIsReadWhenItIsNeeded) {
  ASSERT_NO_FATAL_FAILURE(begin(4));
  ASSERT_OK(map(0, 0, 4 * Words));
  EXPECT_EQ(moved(Direction::FileToHost), 0u);
  ASSERT_OK(bringIn(*Chunks[1], LaunchNeed::Read));
  ASSERT_OK(bringIn(*Chunks[2], LaunchNeed::Overwrite));
  EXPECT_EQ(moved(Direction::FileToHost), 2 * MiB);
}

TEST_F(FileMapsTest, ManyPiecesAreReadAtOnce) {
  ASSERT_NO_FATAL_FAILURE(begin(2));
  size_t most = 0;
  // None continues the one before it.
  for (size_t i = 0; i < 200; ++i) {
    ASSERT_OK(map(i * 64, (i * 7919) % 1000 * 64, 64));
    most = std::max(most, Chunks[0]->storage.numberOfPieces());
  }
  EXPECT_GT(most, 32u);
  EXPECT_LE(most, 64u);
  std::vector<int32_t> found = contents();
  EXPECT_TRUE(
      std::equal(found.begin(), found.begin() + 200 * 64, Data.begin()));
}

TEST_F(FileMapsTest, OnlyWhatIsThereCanBeMapped) {
  ASSERT_NO_FATAL_FAILURE(begin(2));
  write(0, numbers(2 * Words, 1));
  auto refused = [&](uintptr_t address, size_t bytes, int64_t offset,
                     const char *says) {
    const Status status = parts->Maps.mapRange(address, bytes, In, offset);
    EXPECT_EQ(status.code(), DRAGON_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(status.message(), HasSubstr(says));
  };
  refused(Whole->base, 2 * MiB, 2 * MiB + 4, "map of file ");
  refused(Whole->base, 4, -4, "map of file ");
  refused(Whole->base + 4, 4 * MiB, 0, "map of a file: ");
  refused(Whole->end(), 4, 0, "is in no buffer");
  EXPECT_TRUE(contents() == Data);
}

TEST_F(FileMapsTest, AMapToReadIsTheFileAndLeavesItAlone) {
  ASSERT_NO_FATAL_FAILURE(begin(2));
  Buffer *read = mapNew(2, D_READ, 4 * MiB);
  EXPECT_EQ(read->advice, DRAGON_ADVISE_READ_MOSTLY);
  EXPECT_TRUE(read->sinks.empty());
  EXPECT_TRUE(contentsOf(*read) == Filed);
  Buffer *scratch = mapNew(2, D_READ | D_WRITE | D_VOLATILE, 4 * MiB);
  EXPECT_EQ(scratch->advice, DRAGON_ADVISE_NORMAL);
  EXPECT_TRUE(scratch->sinks.empty());
  EXPECT_TRUE(contentsOf(*scratch) == Filed);
}

TEST_F(FileMapsTest, AMapToWriteIsZeroAndThenTheFile) {
  ASSERT_NO_FATAL_FAILURE(begin(1));
  // As long as the map by now, with its old bytes in front.
  std::filesystem::resize_file(path("in"), 4 * MiB);
  Buffer *made = mapNew(2, D_WRITE, /*sizeBefore=*/2 * MiB);
  ASSERT_EQ(made->sinks.size(), 1u);
  EXPECT_TRUE(made->sinks[0].permanent);
  // Behind the old end the file has the zeros.
  const Storage &first = made->chunks[0].storage;
  const Storage &second = made->chunks[1].storage;
  ASSERT_EQ(first.numberOfPieces(), 1u);
  ASSERT_EQ(second.numberOfPieces(), 1u);
  EXPECT_FALSE((*first.pieces().begin()).file);
  EXPECT_TRUE((*second.pieces().begin()).isAt(*In, 2 * MiB));
  std::vector<int32_t> expected(2 * Words, 0);
  EXPECT_TRUE(contentsOf(*made) == expected);
  const std::vector<int32_t> fresh = numbers(100, 4);
  ASSERT_OK(parts->Moves.toBuffer(*made, made->base + 400,
                                  reinterpret_cast<const char *>(fresh.data()),
                                  400, nullptr, {/*pageable=*/true}));
  std::copy(fresh.begin(), fresh.end(), expected.begin() + 100);
  ASSERT_OK(parts->Out.sync(*made));
  EXPECT_TRUE(readFile("in") == expected);
  EXPECT_TRUE(contentsOf(*made) == expected);
}

TEST_F(FileMapsTest, WhatIsSavedOutlivesTheFile) {
  ASSERT_NO_FATAL_FAILURE(begin(3));
  ASSERT_OK(map(0, 0, 3 * Words));
  ASSERT_OK(bringIn(*Chunks[0], LaunchNeed::Read));
  ASSERT_TRUE(Chunks[0]->copies.storage);
  ASSERT_OK(parts->Maps.save(In, {}, /*anyReaders=*/true));
  // With another copy it needs none.
  EXPECT_FALSE(Chunks[0]->copies.storage);
  writeFile("in", numbers(3 * Words, 8));
  EXPECT_TRUE(contents() == Data);
  EXPECT_TRUE(contentsBroughtIn() == Data);
}

} // namespace
