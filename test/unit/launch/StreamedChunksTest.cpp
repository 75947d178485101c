//===- StreamedChunksTest.cpp - what comes and goes in each period --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StreamedChunks.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace dragon;

namespace {

constexpr size_t Period = 100;

/// One of 10 bytes that each of the launches uses.
std::vector<PeriodicChunk> oneEach() {
  std::vector<PeriodicChunk> chunks;
  chunks.reserve(Period);
  for (size_t launch = 0; launch < Period; ++launch)
    chunks.push_back({10, true, false, launch, launch});
  return chunks;
}

std::string chosen(const std::vector<PeriodicChunk> &chunks) {
  std::string result;
  for (const PeriodicChunk &chunk : chunks)
    result += chunk.streams ? '*' : '.';
  return result;
}

size_t count(const std::vector<PeriodicChunk> &chunks) {
  const std::string all = chosen(chunks);
  return size_t(std::count(all.begin(), all.end(), '*'));
}

TEST(StreamedChunksTest, AtEqualDistances) {
  std::vector<PeriodicChunk> chunks = oneEach();
  // 20 of 100 do not fit, and 5 are on the way.
  chooseStreamed(chunks, Period, 800, 50);
  EXPECT_EQ(count(chunks), 25u);
  EXPECT_EQ(chosen(chunks).substr(0, 12), ".*...*...*..");
  chooseStreamed(chunks, Period, 300, 50);
  EXPECT_EQ(count(chunks), 75u);
  EXPECT_EQ(chosen(chunks).find(".."), std::string::npos);
}

TEST(StreamedChunksTest, NoneWhereAllFitsOrTooFewCan) {
  std::vector<PeriodicChunk> chunks = oneEach();
  chooseStreamed(chunks, Period, 1000, 50);
  EXPECT_EQ(count(chunks), 0u);
  chooseStreamed(chunks, Period, 40, 50);
  EXPECT_EQ(count(chunks), 0u);
}

TEST(StreamedChunksTest, NotWhatIsWrittenOrUsedAllAlong) {
  std::vector<PeriodicChunk> chunks = oneEach();
  for (size_t i = 0; i < 40; ++i) {
    chunks[i].clean = i % 2;
    if (i % 2)
      chunks[i].add(i + 50);
  }
  chooseStreamed(chunks, Period, 800, 50);
  EXPECT_EQ(count(chunks), 25u);
  EXPECT_EQ(chosen(chunks).find('*'), 41u);
}

/// It does not matter where in the round somebody looks.
TEST(StreamedChunksTest, APartOfTheRoundMayGoOverItsBegin) {
  auto spanOf = [](std::vector<size_t> launches) {
    PeriodicChunk chunk{10, true, false, launches.front(), launches.front()};
    for (size_t launch : launches)
      chunk.add(launch);
    return chunk.span(Period);
  };
  EXPECT_EQ(spanOf({7}), 0u);
  EXPECT_EQ(spanOf({7, 9, 12}), 5u);
  EXPECT_EQ(spanOf({0, 2, 97}), 5u);
  EXPECT_EQ(spanOf({0, 99}), 1u);
  EXPECT_EQ(spanOf({0, 30, 60, 90}), 70u);
}

/// Another choice, though as good, would move everything once.
TEST(StreamedChunksTest, TheyStayChosen) {
  std::vector<PeriodicChunk> chunks = oneEach();
  chooseStreamed(chunks, Period, 800, 50);
  const std::string before = chosen(chunks);
  std::rotate(chunks.begin(), chunks.begin() + 33, chunks.end());
  chooseStreamed(chunks, Period, 780, 50);
  std::rotate(chunks.rbegin(), chunks.rbegin() + 33, chunks.rend());
  EXPECT_EQ(chosen(chunks), before);
}

std::string both(const std::string &a, const std::string &b) {
  std::string result = a;
  for (size_t i = 0; i < a.size(); ++i)
    result[i] = a[i] == '*' && b[i] == '*' ? '*' : '.';
  return result;
}

/// Where many more, or many fewer, are needed, none of the others changes.
TEST(StreamedChunksTest, SomeMoreOrSomeFewer) {
  std::vector<PeriodicChunk> chunks = oneEach();
  chooseStreamed(chunks, Period, 800, 50);
  const std::string few = chosen(chunks);
  chooseStreamed(chunks, Period, 500, 50);
  EXPECT_EQ(count(chunks), 55u);
  const std::string many = chosen(chunks);
  EXPECT_EQ(both(few, many), few);
  chooseStreamed(chunks, Period, 800, 50);
  EXPECT_EQ(count(chunks), 25u);
  EXPECT_EQ(both(chosen(chunks), many), chosen(chunks));
  // One of them is written now.
  const std::string before = chosen(chunks);
  chunks[before.find('*')].clean = false;
  chooseStreamed(chunks, Period, 700, 10);
  EXPECT_EQ(both(chosen(chunks), before),
            std::string(before).replace(before.find('*'), 1, "."));
}

/// What a large chunk is too much the next ones are less.
TEST(StreamedChunksTest, BytesCount) {
  std::vector<PeriodicChunk> chunks = oneEach();
  for (size_t i = 0; i < Period; i += 10)
    chunks[i].bytes = 100;
  chooseStreamed(chunks, Period, 950, 0);
  uint64_t bytes = 0;
  for (const PeriodicChunk &chunk : chunks)
    bytes += chunk.streams ? chunk.bytes : 0;
  EXPECT_NEAR(double(bytes), 950, 50);
}

} // namespace
