//===- SinksTest.cpp - places in files for contents to come ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/Sinks.h"
#include "test/unit/support/files/FilesFixture.h"

#include <random>

using namespace dragon;
using namespace dragon::test;

namespace {

class SinksTest : public FilesFixture {
protected:
  static constexpr size_t Count = 4;
  static constexpr size_t Head = 1024; ///< words of the file

  void SetUp() override {
    FilesFixture::SetUp();
    settings.deviceMemory = Count * 2 * MiB;
    settings.hostMemory = 32 * MiB;
    ASSERT_NO_FATAL_FAILURE(startParts(Count));
    parts->Time.Tracking = true;
    writeFile("out", numbers(Head, 1));
    Out = FolderFixture::open("out", true);
  }
  void TearDown() override {
    giveHost();
    FilesFixture::TearDown();
  }
  Status announce(Buffer &buffer, size_t begin, size_t bytes, int64_t offset,
                  bool permanent = false) {
    return parts->Announced.set(buffer.base + begin, bytes, Out, offset,
                                permanent);
  }
  /// What host memory has no room for goes to its place in the file.
  void evictTo(int64_t offset) {
    ASSERT_OK(announce(*Whole, 0, Whole->bytes, offset));
    ASSERT_EQ(Whole->sinks.size(), 1u);
    write(0, numbers(Count * Words, 9));
    fillHost();
    ASSERT_OK(evict(0, Count));
    ASSERT_OK(parts->Writes.finishAll());
    ASSERT_GT(moved(Direction::HostToFile), 0u);
    ASSERT_TRUE(Whole->sinks[0].used);
  }
  /// All of the buffer is evicted to its place behind the head.
  void evictToSink() {
    ASSERT_NO_FATAL_FAILURE(evictTo(Head * 4));
    ASSERT_EQ(moved(Direction::HostToFile), Whole->bytes);
    ASSERT_EQ(moved(Direction::HostToSwap), 0u);
  }
  size_t fileBytes() { return std::filesystem::file_size(path("out")); }
  bool headIsAsBefore() {
    std::vector<int32_t> words = readFile("out");
    words.resize(std::min(words.size(), Head));
    return words == numbers(Head, 1);
  }

  std::shared_ptr<BackingFile> Out;
};

TEST_F(SinksTest, WhatTheFileHoldsIsNotReplacedBeforeTheProgramDoesIt) {
  EXPECT_FALSE(parts->Announced.any());
  ASSERT_OK(announce(*Whole, 0, Whole->bytes, Head * 4 - 1));
  ASSERT_OK(announce(*Whole, 0, Whole->bytes, -1));
  EXPECT_TRUE(Whole->sinks.empty());
  ASSERT_OK(announce(*Whole, 0, Whole->bytes, Head * 4));
  EXPECT_EQ(Whole->sinks.size(), 1u);
  EXPECT_TRUE(parts->Announced.any());
  ASSERT_OK(announce(*Whole, 0, Whole->bytes, Head * 4)); // told again
  EXPECT_EQ(Whole->sinks.size(), 1u);
  // That of a map may.
  Buffer *map = makeBuffer(1, "map");
  for (int times = 0; times < 2; ++times) {
    ASSERT_OK(announce(*map, 0, map->bytes, 0, /*permanent=*/true));
    EXPECT_EQ(map->sinks.size(), 1u);
  }
  EXPECT_FALSE(announce(*Whole, 1, Whole->bytes, Head * 4).ok());
}

/// One place has one owner, and one owner one place: the last one told.
TEST_F(SinksTest, PlacesAndBytesHaveOneOwner) {
  std::mt19937 random(6);
  Buffer *buffers[] = {Whole, makeBuffer(1, "other")};
  writeFile("out2", {});
  const auto second = FolderFixture::open("out2", true);
  size_t most = 0;
  for (int step = 0; step < 400; ++step) {
    Buffer &buffer = *buffers[random() % 2];
    const std::shared_ptr<BackingFile> &file = random() % 4 ? Out : second;
    const size_t begin = random() % 40, bytes = 1 + random() % 20;
    const auto offset = int64_t(Head * 4 + random() % 60);
    ASSERT_OK(
        parts->Announced.set(buffer.base + begin, bytes, file, offset, false));
    bool isThere = false;
    std::vector<const Sink *> all;
    for (Buffer *each : buffers)
      for (const Sink &sink : each->sinks) {
        all.push_back(&sink);
        isThere |= sink.begin == buffer.base + begin &&
                   sink.end == sink.begin + bytes && sink.isIn(*file) &&
                   sink.offset == offset;
      }
    ASSERT_TRUE(isThere) << step;
    for (const Sink *a : all)
      for (const Sink *b : all)
        if (a != b) {
          EXPECT_FALSE(a->begin < b->end && b->begin < a->end) << step;
          EXPECT_FALSE(a->isIn(*b->file) && a->offset < b->placeOf(b->end) &&
                       b->offset < a->placeOf(a->end))
              << step;
        }
    most = std::max(most, all.size());
  }
  EXPECT_GT(most, 2u);
}

TEST_F(SinksTest, AnAbandonedFileIsWhatTheProgramMadeOfIt) {
  ASSERT_NO_FATAL_FAILURE(evictToSink());
  EXPECT_EQ(fileBytes(), Head * 4 + Whole->bytes);
  ASSERT_OK(
      parts->Announced.abandon(*Whole, [](const Sink &) { return true; }));
  EXPECT_TRUE(Whole->sinks.empty());
  EXPECT_EQ(fileBytes(), Head * 4);
  EXPECT_TRUE(headIsAsBefore());
  EXPECT_EQ(moved(Direction::HostToSwap), Whole->bytes);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(SinksTest, WhatWasWrittenOfAnAbandonedPlaceIsKept) {
  ASSERT_NO_FATAL_FAILURE(evictToSink());
  const Sink sink = Whole->sinks[0];
  Whole->sinks.clear();
  ASSERT_OK(parts->Announced.abandon(sink, Head * 4 + 2 * MiB));
  EXPECT_EQ(fileBytes(), Head * 4 + 2 * MiB);
  std::vector<int32_t> expected = numbers(Head, 1);
  expected.insert(expected.end(), Data.begin(), Data.begin() + long(Words));
  EXPECT_TRUE(readFile("out") == expected);
  EXPECT_EQ(moved(Direction::HostToSwap), Whole->bytes - 2 * MiB);
  EXPECT_TRUE(contents() == Data);
}

/// Two buffers have places in a file one behind the other, which were announced
/// when it ended before both.
TEST_F(SinksTest, WhatOthersHaveBeforeAnAbandonedPlaceStays) {
  Buffer *behind = makeBuffer(1, "behind");
  const auto at = int64_t(Head * 4 + Whole->bytes);
  ASSERT_OK(announce(*behind, 0, behind->bytes, at));
  ASSERT_NO_FATAL_FAILURE(evictTo(Head * 4));
  ASSERT_EQ(behind->sinks.size(), 1u);
  behind->sinks[0].used = true; // all of it is zeros
  ASSERT_OK(Out->truncate(uint64_t(at) + behind->bytes));
  ASSERT_OK(
      parts->Announced.abandon(*behind, [](const Sink &) { return true; }));
  EXPECT_EQ(fileBytes(), uint64_t(at));
  EXPECT_TRUE(contents() == Data);
}

/// The program writes another buffer where it announced this one.
TEST_F(SinksTest, APlaceThatTheProgramFillsFromElsewhereIsNotCutOff) {
  ASSERT_NO_FATAL_FAILURE(evictToSink());
  Buffer *other = makeBuffer(1, "other");
  giveHost();
  size_t written = 0;
  ASSERT_OK(
      parts->Out.write(other->base, other->bytes, Out, Head * 4, written));
  EXPECT_TRUE(Whole->sinks.empty());
  ASSERT_OK(
      parts->Announced.abandon(*Whole, [](const Sink &) { return true; }));
  EXPECT_EQ(fileBytes(), Head * 4 + other->bytes);
  EXPECT_TRUE(headIsAsBefore());
  EXPECT_TRUE(contents() == Data);
}

/// The program writes another buffer between the file's end and the place.
TEST_F(SinksTest, WhatTheProgramWritesBeforeAnAbandonedPlaceStays) {
  Buffer *other = makeBuffer(1, "other");
  const auto at = int64_t(Head * 4 + other->bytes);
  ASSERT_NO_FATAL_FAILURE(evictTo(at));
  giveHost();
  size_t written = 0;
  ASSERT_OK(
      parts->Out.write(other->base, other->bytes, Out, Head * 4, written));
  EXPECT_EQ(Whole->sinks.size(), 1u);
  ASSERT_OK(
      parts->Announced.abandon(*Whole, [](const Sink &) { return true; }));
  EXPECT_EQ(fileBytes(), uint64_t(at));
  EXPECT_TRUE(headIsAsBefore());
  EXPECT_TRUE(contents() == Data);
}

TEST_F(SinksTest, WhatIsBehindAnAbandonedPlaceStays) {
  ASSERT_NO_FATAL_FAILURE(evictToSink());
  const std::vector<int32_t> tail = numbers(10, 2);
  ASSERT_EQ(::pwrite(Out->fd(), tail.data(), 40, off_t(fileBytes())), 40);
  ASSERT_OK(
      parts->Announced.abandon(*Whole, [](const Sink &) { return true; }));
  std::vector<int32_t> expected = numbers(Head, 1);
  expected.resize(Head + Count * Words, 0);
  expected.insert(expected.end(), tail.begin(), tail.end());
  EXPECT_TRUE(readFile("out") == expected);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(SinksTest, ContentsLeaveTheBytesThatAreAskedFor) {
  ASSERT_NO_FATAL_FAILURE(evictToSink());
  const int64_t delta = int64_t(Head * 4) - int64_t(Whole->base);
  const int64_t first = Head * 4;
  // Those that belong there are none of it.
  ASSERT_OK(parts->Announced.detach(*Out, 0, INT64_MAX - 1, Whole, delta));
  EXPECT_EQ(moved(Direction::HostToSwap), 0u);
  ASSERT_OK(parts->Announced.detach(*Out, 0, first, nullptr, 0));
  EXPECT_EQ(moved(Direction::HostToSwap), 0u);
  // A byte of the second chunk.
  ASSERT_OK(parts->Announced.detach(*Out, first + 2 * MiB, first + 2 * MiB + 1,
                                    Whole, delta + 4));
  EXPECT_EQ(moved(Direction::HostToSwap), 2 * MiB);
  for (size_t i = 0; i < Count; ++i)
    EXPECT_EQ(Chunks[i]->storage.hasSwap(), i == 1) << i;
  // One that is in memory as well need not move.
  ASSERT_OK(bringIn(*Chunks[3], LaunchNeed::Read));
  ASSERT_OK(parts->Announced.detach(*Out, first + 4 * MiB, INT64_MAX - 1,
                                    nullptr, 0));
  EXPECT_EQ(moved(Direction::HostToSwap), 4 * MiB);
  EXPECT_FALSE(Chunks[3]->copies.storage);
  EXPECT_EQ(Whole->lines.size(), 1u);
  ASSERT_OK(parts->Announced.detach(*Out, 0, INT64_MAX, nullptr, 0));
  EXPECT_TRUE(Whole->lines.empty());
  ASSERT_EQ(::ftruncate(Out->fd(), 0), 0);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(SinksTest, OnceItIsWrittenTheFileIsThePrograms) {
  ASSERT_NO_FATAL_FAILURE(evictToSink());
  ASSERT_OK(bringIn(*Chunks[0], LaunchNeed::Read));
  Sink sink = Whole->sinks[0];
  Whole->sinks.clear();
  sink.begin += 1; // the first chunk is not all of it within
  parts->Announced.leaveFile(*Whole, sink);
  EXPECT_TRUE(Chunks[0]->copies.storage);
  sink.begin -= 1;
  parts->Announced.leaveFile(*Whole, sink);
  EXPECT_FALSE(Chunks[0]->copies.storage);
  for (size_t i = 1; i < Count; ++i) {
    EXPECT_TRUE(Chunks[i]->storage.undefined());
    EXPECT_EQ(Chunks[i]->copies, Copies());
  }
}

} // namespace
