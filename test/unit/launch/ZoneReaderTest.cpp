//===- ZoneReaderTest.cpp - zones of arrays, wherever their bytes are -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/ZoneReader.h"

#include "test/unit/support/memory/MemoryFixture.h"

#include <gtest/gtest.h>

#include <cstring>

namespace dragon::test {
namespace {

bool areSame(const NumberRange &a, const NumberRange &b) {
  return a.Lo == b.Lo && a.Hi == b.Hi;
}

/// A chunk each on the device, in host memory, in the program's memory and in
/// a file.
class ZoneReaderTest : public MemoryFixture {
protected:
  static constexpr size_t Count = 4;

  void SetUp() override {
    MemoryFixture::SetUp();
    settings.deviceMemory = Count * 2 * MiB;
    settings.hostMemory = 32 * MiB;
    ASSERT_NO_FATAL_FAILURE(startParts(Count));
    parts->Time.Tracking = true;
    write(0, numbers(Count * Words, 5));
    // Rows' ends: each number is a bit more than the one before it.
    std::vector<int32_t> ends = Data;
    for (size_t i = 0, sum = 0; i < ends.size(); ++i)
      ends[i] = int32_t(sum += uint32_t(ends[i]) % 64);
    std::copy_n(ends.begin(), 2 * Words, Data.begin());
    write(0, Data);
    for (Chunk *chunk : Chunks)
      ASSERT_OK(bringIn(*chunk, LaunchNeed::Read));
    ASSERT_OK(evict(1, 1));
    OfProgram.assign(Data.begin() + 2 * Words, Data.begin() + 3 * Words);
    moveTo(*Chunks[2], BackingFile::programMemory(),
           int64_t(reinterpret_cast<uintptr_t>(OfProgram.data())));
    writeFile("in", Data);
    moveTo(*Chunks[3], FolderFixture::open("in", false),
           int64_t(3 * Words * 4));
  }
  void moveTo(Chunk &chunk, std::shared_ptr<BackingFile> file, int64_t offset) {
    ASSERT_OK(parts->Data.forget(chunk));
    if (chunk.device.id)
      ASSERT_OK(parts->OnDevice.release(chunk));
    chunk.storage.put({0, chunk.used(), PieceKind::File, file, offset});
    Whole->noteBacking(*file, chunk.va(), offset);
    Whole->note(chunk, ChunkEvent::Ended);
  }
  NumberPlaces placesFrom(size_t firstByte, uint64_t step, unsigned bits) {
    NumberPlaces places;
    places.First = places.Base = Whole->base + firstByte;
    places.Step = step;
    places.Bits = bits;
    const uint64_t records = (Whole->bytes - firstByte - bits / 8) / step;
    places.Last = places.First + records * step;
    return places;
  }
  ZoneReader makeReader() {
    return {parts->Ctx,  parts->Time,   parts->Space,
            parts->Data, parts->Copied, parts->Moves};
  }
  void expectSame(const NumberPlaces &places, size_t begin, size_t end) {
    ZoneReader reader = makeReader();
    NumberZones read(places), expected(places);
    ASSERT_OK(reader.read(read, begin, end, nullptr));
    for (size_t i = begin; i < end; ++i) {
      const NumberPlaces zone = expected.zone(i);
      expected.set(i, reinterpret_cast<const char *>(Data.data()) +
                          (zone.First - Whole->base));
      std::vector<NumberRange> a, b;
      ASSERT_TRUE(expected.find(zone, 4, a));
      ASSERT_TRUE(read.find(zone, 4, b));
      ASSERT_EQ(a.size(), b.size()) << i;
      ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), areSame)) << i;
      ASSERT_FALSE(a.empty());
    }
  }

  std::vector<int32_t> OfProgram;
};

TEST_F(ZoneReaderTest, NumbersAreFoundWhereTheyAre) {
  ASSERT_TRUE(Chunks[0]->copies.device);
  ASSERT_TRUE(Chunks[1]->copies.host);
  ASSERT_FALSE(Chunks[2]->copies.inMemory());
  ASSERT_FALSE(Chunks[3]->copies.inMemory());
  // Side by side, across the ends of chunks, and as a part of records.
  for (const NumberPlaces &places :
       {placesFrom(0, 4, 32), placesFrom(12, 4, 32), placesFrom(8, 8, 64),
        placesFrom(4, 12, 32), placesFrom(20, 40, 64), placesFrom(2, 2, 16)}) {
    const size_t zones = NumberZones(places).zones();
    expectSame(places, 0, zones);
    expectSame(places, zones / 3, zones / 3 + 1);
  }
}

TEST_F(ZoneReaderTest, OnlyWhatIsNotInHostMemoryIsCopied) {
  const uint64_t before = moved(Direction::DeviceToHost);
  const NumberPlaces places = placesFrom(0, 4, 32);
  expectSame(places, 0, NumberZones(places).zones());
  EXPECT_EQ(moved(Direction::DeviceToHost) - before, 2 * MiB);
  EXPECT_EQ(moved(Direction::FileToHost), 2 * MiB);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ZoneReaderTest, WhatIsOnTheDeviceIsAtHandWhereItIsKnown) {
  ZoneReader reader = makeReader();
  auto range = [&](size_t beginChunk, size_t endChunk) {
    return AddressRange{Chunks[beginChunk]->va(),
                        Chunks[endChunk - 1]->usedEnd()};
  };
  EXPECT_FALSE(reader.isAtHand(range(0, 1)));
  EXPECT_TRUE(reader.isAtHand(range(1, 3)));  // host and program
  EXPECT_FALSE(reader.isAtHand(range(2, 4))); // a file
  // The second half of the first chunk is as the program copied it.
  const size_t half = Words / 2;
  const AddressRange copied{Whole->base + MiB, Whole->base + 2 * MiB};
  parts->Copied.follow(copied);
  parts->Copied.copied(*Whole, copied,
                       reinterpret_cast<const char *>(&Data[half]));
  EXPECT_FALSE(reader.isAtHand(range(0, 3)));
  const AddressRange all{copied.begin, range(1, 3).end};
  EXPECT_TRUE(reader.isAtHand(all));

  const uint64_t before = moved(Direction::DeviceToHost);
  std::vector<int32_t> found(half + 2 * Words);
  ASSERT_OK(reader.copyOut(all.begin, all.end,
                           reinterpret_cast<char *>(found.data()), nullptr));
  EXPECT_TRUE(
      std::equal(found.begin(), found.end(), Data.begin() + long(half)));
  expectSame(placesFrom(MiB, 4, 32), 0, 3);
  EXPECT_EQ(moved(Direction::DeviceToHost), before);
}

} // namespace
} // namespace dragon::test
