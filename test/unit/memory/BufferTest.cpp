//===- BufferTest.cpp - a range of addresses, cut into chunks -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Buffer.h"
#include "runtime/memory/Pins.h"
#include "test/unit/support/tier/FolderFixture.h"

#include <random>

using namespace dragon;
using namespace dragon::test;

namespace {

Buffer makeBuffer(size_t bytes, size_t vaBytes, size_t chunkBytes) {
  Buffer buffer;
  buffer.base = 1 << 20;
  buffer.bytes = bytes;
  buffer.vaBytes = vaBytes;
  buffer.chunkBytes = chunkBytes;
  return buffer;
}

TEST(BufferTest, ChunksAreAllOfItAndNothingElse) {
  for (size_t bytes = 1; bytes <= 64; ++bytes)
    for (size_t chunkBytes : {4, 8, 12}) {
      Buffer buffer = makeBuffer(bytes, (bytes + 3) / 4 * 4, chunkBytes);
      buffer.makeChunks();
      uintptr_t at = buffer.base;
      size_t used = 0;
      for (Chunk &chunk : buffer.chunks) {
        EXPECT_EQ(chunk.buffer, &buffer);
        EXPECT_EQ(chunk.va(), at);
        EXPECT_GT(chunk.used(), 0u);
        EXPECT_LE(chunk.used(), chunk.bytes());
        EXPECT_EQ(chunk.bytes() % 4, 0u);
        used += chunk.used();
        at += chunk.bytes();
      }
      EXPECT_EQ(at, buffer.base + buffer.vaBytes);
      EXPECT_EQ(used, bytes);
      for (uintptr_t byte = buffer.base; byte < buffer.end(); ++byte) {
        const Chunk &chunk = buffer.chunkAt(byte);
        EXPECT_LE(chunk.va(), byte);
        EXPECT_LT(byte, chunk.usedEnd());
      }
    }
}

TEST(BufferTest, APartIsWhatIsInBoth) {
  Buffer buffer = makeBuffer(22, 24, 8);
  buffer.makeChunks();
  for (const Chunk &chunk : buffer.chunks)
    for (uintptr_t begin = buffer.base - 3; begin < buffer.base + 30; ++begin)
      for (uintptr_t end = begin; end < buffer.base + 30; ++end) {
        const ChunkPart part = chunk.partOf(begin, end);
        for (uintptr_t at = chunk.va(); at < chunk.va() + 8; ++at) {
          const bool in = begin <= at && at < end && at < chunk.usedEnd();
          const size_t offset = at - chunk.va();
          ASSERT_EQ(in, part.begin <= offset && offset < part.end)
              << begin << " " << end << " " << at;
        }
      }
}

/// Whatever happens to chunks, the counts are what counting them gives.
TEST(BufferTest, CountsFollowEvents) {
  std::mt19937 random(17);
  Buffer buffer = makeBuffer(40, 40, 4);
  buffer.makeChunks();
  unsigned all = 0, deviceOnly = 0;
  for (int step = 0; step < 20000; ++step) {
    // Now and then all of them alike, so that all are on the device at times.
    const bool each = random() % 16 == 0;
    const auto event = ChunkEvent(random() % NumChunkEvents);
    const size_t which = random() % buffer.chunks.size();
    for (size_t i = 0; i < buffer.chunks.size(); ++i) {
      Chunk &chunk = buffer.chunks[i];
      if ((each || i == which) && after(chunk.copies, event))
        buffer.note(chunk, event);
    }
    size_t onDevice = 0, onDeviceOnly = 0;
    for (const Chunk &chunk : buffer.chunks) {
      ASSERT_TRUE(chunk.copies.any());
      onDevice += chunk.copies.device;
      onDeviceOnly +=
          chunk.copies.device && !chunk.copies.host && !chunk.copies.storage;
    }
    ASSERT_EQ(buffer.numOnDevice, onDevice);
    ASSERT_EQ(buffer.numDeviceOnly, onDeviceOnly);
    ASSERT_EQ(buffer.allOnDevice(), onDevice == 10);
    ASSERT_EQ(buffer.allDeviceOnly(), onDeviceOnly == 10);
    all += buffer.allOnDevice();
    deviceOnly += buffer.allDeviceOnly();
  }
  EXPECT_GT(all, deviceOnly);
  EXPECT_GT(deviceOnly, 0u);
}

TEST(BufferTest, MovesAreCounted) {
  Buffer buffer;
  {
    const Moving one(buffer);
    const Moving two(buffer);
    EXPECT_EQ(buffer.moving, 2u);
  }
  EXPECT_EQ(buffer.moving, 0u);
}

TEST(PinsTest, ARoundBeginsWithNone) {
  Buffer buffer = makeBuffer(8, 8, 4);
  buffer.makeChunks();
  Chunk &a = buffer.chunks[0], &b = buffer.chunks[1];
  Pins pins;
  EXPECT_FALSE(pins.has(a));
  pins.add(a);
  EXPECT_TRUE(pins.has(a));
  EXPECT_TRUE(pins.holdOnDevice(a));
  EXPECT_TRUE(pins.holdOnHost(a));
  EXPECT_FALSE(pins.has(b));
  pins.set(a, false);
  EXPECT_FALSE(pins.has(a));
  pins.set(a, true);
  pins.next();
  EXPECT_FALSE(pins.has(a));
  EXPECT_FALSE(pins.holdOnDevice(a));
}

TEST(PinsTest, OtherReasonsHoldOneSideAlone) {
  Buffer buffer = makeBuffer(8, 8, 4);
  buffer.makeChunks();
  Chunk &chunk = buffer.chunks[0];
  const Pins pins;
  auto expect = [&](bool onDevice, bool onHost) {
    EXPECT_EQ(pins.holdOnDevice(chunk), onDevice);
    EXPECT_EQ(pins.holdOnHost(chunk), onHost);
    chunk.holds = {};
    buffer.kept = false;
  };
  expect(false, false);
  chunk.holds.calls = 1;
  expect(true, false);
  buffer.kept = true;
  expect(true, false);
  chunk.holds.mapped = true;
  expect(false, true);
  chunk.holds.inTransit = true;
  expect(false, true);
}

class BufferFilesTest : public FolderFixture {};

TEST_F(BufferFilesTest, ASinkHasAPlaceForAllThatIsUsed) {
  writeFile("out", {});
  const auto file = FolderFixture::open("out", true);
  Buffer buffer = makeBuffer(22, 24, 8); // the last one has 6 bytes
  buffer.makeChunks();
  const uintptr_t base = buffer.base;
  buffer.sinks.push_back({base + 1, base + 16, file, 100, false});
  buffer.sinks.push_back({base + 16, base + 22, file, 300, false});
  EXPECT_EQ(buffer.sinkFor(buffer.chunks[0]), nullptr);
  ASSERT_EQ(buffer.sinkFor(buffer.chunks[1]), &buffer.sinks[0]);
  EXPECT_EQ(buffer.sinks[0].placeOf(buffer.chunks[1].va()), 107);
  EXPECT_EQ(buffer.sinkFor(buffer.chunks[2]), &buffer.sinks[1]);
  buffer.sinks[1].end -= 1;
  EXPECT_EQ(buffer.sinkFor(buffer.chunks[2]), nullptr);
}

TEST_F(BufferFilesTest, TheSameLineOfAFileIsNotedOnce) {
  writeFile("a", {});
  writeFile("b", {});
  const auto a = FolderFixture::open("a"), b = FolderFixture::open("b");
  Buffer buffer;
  buffer.noteBacking(*a, 1000, 0);
  buffer.noteBacking(*a, 1100, 100);
  EXPECT_EQ(buffer.lines.size(), 1u);
  EXPECT_EQ(buffer.lines[0].delta, -1000);
  buffer.noteBacking(*a, 1100, 0);
  buffer.noteBacking(*b, 1000, 0);
  buffer.noteBacking(*FolderFixture::open("a"), 1000, 0); // it is that file
  EXPECT_EQ(buffer.lines.size(), 3u);
}

} // namespace
