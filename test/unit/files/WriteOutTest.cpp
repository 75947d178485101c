//===- WriteOutTest.cpp - contents of buffers go to files -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/WriteOut.h"
#include "test/unit/support/files/FilesFixture.h"

#include <random>

using namespace dragon;
using namespace dragon::test;

namespace {

class WriteOutTest : public FilesFixture {
protected:
  static constexpr size_t Count = 6;

  /// On a device for two thirds of the buffer.
  void SetUp() override {
    FilesFixture::SetUp();
    settings.deviceMemory = 8 * MiB;
    settings.hostMemory = 16 * MiB;
    ASSERT_NO_FATAL_FAILURE(startParts(Count));
    parts->Time.Tracking = true;
    writeFile("in", numbers(Count * Words, 3));
    writeFile("out", {});
    Out = FolderFixture::open("out", true);
  }
  /// Puts the chunk somewhere, by chance.
  void move(Chunk &chunk, unsigned where) {
    const auto at = size_t(chunk.va() - Whole->base);
    switch (where) {
    case 0:
      ASSERT_OK(bringIn(chunk, LaunchNeed::Read));
      break;
    case 1:
      ASSERT_OK(writeOnHost(chunk));
      break;
    case 2:
      ASSERT_OK(evict(at / (2 * MiB), 1));
      break;
    case 3: {
      const auto in = FolderFixture::open("in");
      ASSERT_OK(
          parts->Maps.mapRange(chunk.va(), chunk.used(), in, int64_t(at)));
      const std::vector<int32_t> words = numbers(Count * Words, 3);
      std::copy_n(words.begin() + long(at / 4), Words,
                  Data.begin() + long(at / 4));
      break;
    }
    default:
      ASSERT_OK(bringIn(chunk, LaunchNeed::Write));
      ASSERT_OK(parts->Data.wroteDevice(chunk));
      break;
    }
  }

  std::shared_ptr<BackingFile> Out;
};

TEST_F(WriteOutTest, TheFileGetsTheBytesWhereverTheyAre) {
  std::mt19937 random(12);
  std::vector<int32_t> file;
  write(0, numbers(Count * Words, 1));
  for (int round = 0; round < 25; ++round) {
    for (Chunk *chunk : Chunks)
      ASSERT_NO_FATAL_FAILURE(move(*chunk, random() % 5));
    size_t begin = random() % (Count * Words), end = random() % (Count * Words);
    if (begin > end)
      std::swap(begin, end);
    if (begin == end)
      continue;
    const size_t offset = random() % (2 * Words);
    size_t written = 0;
    ASSERT_OK(parts->Out.write(Whole->base + begin * 4, (end - begin) * 4, Out,
                               int64_t(offset * 4), written));
    EXPECT_EQ(written, (end - begin) * 4);
    file.resize(std::max(file.size(), offset + (end - begin)), 0);
    std::copy(Data.begin() + long(begin), Data.begin() + long(end),
              file.begin() + long(offset));
    ASSERT_TRUE(readFile("out") == file) << round;
    ASSERT_TRUE(contents() == Data) << round;
    EXPECT_EQ(Whole->moving, 0u);
  }
}

/// The buffer's contents are in the file that it is written to, elsewhere.
TEST_F(WriteOutTest, AFileThatIsUnderTheBufferMayBeWritten) {
  const auto in = FolderFixture::open("in", true);
  std::vector<int32_t> file = numbers(Count * Words, 3);
  ASSERT_OK(parts->Maps.mapRange(Whole->base, Whole->bytes, in, 0));
  Data = file;
  size_t written = 0;
  // All of it, one chunk and a bit further.
  ASSERT_OK(
      parts->Out.write(Whole->base, Whole->bytes, in, 2 * MiB + 400, written));
  file.resize(Words + 100);
  file.insert(file.end(), Data.begin(), Data.end());
  EXPECT_TRUE(readFile("in") == file);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(WriteOutTest, AnAnnouncementForAnotherPlaceEnds) {
  write(0, numbers(Count * Words, 1));
  ASSERT_OK(
      parts->Announced.set(Whole->base, Whole->bytes, Out, 16 * MiB, false));
  fillHost();
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  ASSERT_GT(moved(Direction::HostToFile), 0u);
  giveHost();
  size_t written = 0;
  ASSERT_OK(parts->Out.write(Whole->base, Whole->bytes, Out, 0, written));
  EXPECT_TRUE(Whole->sinks.empty());
  EXPECT_TRUE(readFile("out") == Data);
  EXPECT_TRUE(contents() == Data);
}

/// What is behind the first part is in its place already, and nowhere else.
TEST_F(WriteOutTest, AnAnnouncedWriteMayComeInParts) {
  write(0, numbers(Count * Words, 1));
  ASSERT_OK(parts->Announced.set(Whole->base, Whole->bytes, Out, 0, false));
  fillHost();
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  const uint64_t evicted = moved(Direction::HostToFile);
  ASSERT_GT(evicted, 0u);
  giveHost();
  const size_t middle = 2 * MiB + 400;
  size_t written = 0;
  ASSERT_OK(parts->Out.write(Whole->base, middle, Out, 0, written));
  EXPECT_EQ(written, middle);
  EXPECT_EQ(Whole->sinks.size(), 1u);
  written = 0;
  ASSERT_OK(parts->Out.write(Whole->base + middle, Whole->bytes - middle, Out,
                             int64_t(middle), written));
  EXPECT_EQ(written, Whole->bytes - middle);
  EXPECT_TRUE(Whole->sinks.empty());
  EXPECT_TRUE(readFile("out") == Data);
}

/// The last bytes are the program's: they come from its memory.
TEST_F(WriteOutTest, AnAnnouncedWriteMayEndElsewhere) {
  write(0, numbers(Count * Words, 1));
  ASSERT_OK(parts->Announced.set(Whole->base, Whole->bytes, Out, 0, false));
  fillHost();
  ASSERT_OK(evict(0, Count));
  ASSERT_OK(parts->Writes.finishAll());
  giveHost();
  size_t written = 0;
  ASSERT_OK(parts->Out.write(Whole->base, Whole->bytes - 4, Out, 0, written));
  EXPECT_EQ(Whole->sinks.size(), 1u);
  parts->Out.finished(Whole->base, Whole->base + Whole->bytes);
  EXPECT_TRUE(Whole->sinks.empty());
  Data.pop_back();
  std::vector<int32_t> file = readFile("out");
  file.resize(Data.size());
  EXPECT_TRUE(file == Data);
}

TEST_F(WriteOutTest, OnlyWhatIsInTheBufferIsWritten) {
  write(0, numbers(Count * Words, 1));
  size_t written = 7;
  EXPECT_EQ(
      parts->Out.write(Whole->base + 4, Whole->bytes, Out, 0, written).code(),
      DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(std::filesystem::file_size(path("out")), 0u);
}

} // namespace
