//===- DiscardsTest.cpp - contents that the program says are dead ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Discards.h"
#include "test/unit/support/memory/PlacesFixture.h"

#include <algorithm>
#include <random>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

class DiscardsTest : public PlacesFixture {
protected:
  Status discard(size_t begin, size_t end, bool eager = false) {
    return parts->Discarded.range(Whole->base + begin * 4, (end - begin) * 4,
                                  nullptr, eager);
  }
  void expectAlive(const std::vector<char> &dead,
                   const std::vector<int32_t> &found) {
    for (size_t i = 0; i < dead.size(); ++i)
      if (!dead[i] && found[i] != Data[i])
        FAIL() << i << ": " << found[i] << ", was " << Data[i];
  }
};

/// What is not discarded stays what it is, also when it moves; what is cannot
/// be found again.
TEST_F(DiscardsTest, NothingElseIsLost) {
  std::mt19937 random(23);
  for (At place : Places)
    for (int round = 0; round < 6; ++round) {
      SCOPED_TRACE(testing::Message() << int(place) << ", " << round);
      ASSERT_NO_FATAL_FAILURE(put(place));
      std::vector<char> dead(Data.size());
      for (int step = 0; step < 5; ++step) {
        // Ends of chunks, and others.
        auto somewhere = [&]() -> size_t {
          const size_t end = random() % (Count + 1) * Words;
          switch (random() % 4) {
          case 0:
            return random() % (Count * Words + 1);
          case 1: // close to one
            return end - std::min<size_t>(end, random() % 8);
          default:
            return end;
          }
        };
        size_t begin = somewhere(), end = somewhere();
        if (begin > end)
          std::swap(begin, end);
        if (begin == end)
          continue;
        ASSERT_OK(discard(begin, end, step % 2));
        std::fill(dead.begin() + long(begin), dead.begin() + long(end), true);
        for (Chunk *chunk : Chunks) {
          const size_t first = (chunk->va() - Whole->base) / 4;
          if (std::find(dead.begin() + long(first),
                        dead.begin() + long(first + Words),
                        false) == dead.begin() + long(first + Words)) {
            // In how many parts it died does not matter.
            EXPECT_TRUE(chunk->storage.undefined());
            EXPECT_EQ(chunk->slot.bytes, 0u);
            EXPECT_EQ(chunk->copies, Copies());
            if (place != At::File && place != At::Swap) // of copies in memory
              EXPECT_TRUE(chunk->defined.empty());
          }
        }
      }
      const std::vector<int32_t> found = contents();
      expectAlive(dead, found);
      for (size_t i = 0; i < dead.size(); ++i)
        if (dead[i] && found[i] == Data[i])
          FAIL() << i << " is not poison";
      expectAlive(dead, contentsBroughtIn());
      ASSERT_OK(evict(0, Count));
      expectAlive(dead, contents());
      end();
    }
}

TEST_F(DiscardsTest, WhatIsDeadDoesNotMove) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  ASSERT_OK(discard(0, Words));
  EXPECT_TRUE(Chunks[0]->discardedDirty);
  // Of this one the middle is left.
  ASSERT_OK(discard(Words, Words + 1024));
  ASSERT_OK(discard(2 * Words - 2048, 2 * Words));
  EXPECT_EQ(Chunks[1]->defined, (ChunkPart{4096, 2 * MiB - 8192}));
  // And a hole is none: all of it is kept.
  ASSERT_OK(discard(2 * Words + 1024, 2 * Words + 2048));
  EXPECT_EQ(Chunks[2]->defined, Chunks[2]->whole());
  ASSERT_OK(evict(0, Count));
  EXPECT_EQ(moved(Direction::DeviceToHost), 4 * MiB - 4096 - 8192);
  EXPECT_EQ(parts->Ctx.ledger.avoided(Avoided::Discard), 2 * MiB);
}

TEST_F(DiscardsTest, WhatIsDeadIsNotRead) {
  ASSERT_NO_FATAL_FAILURE(put(At::File));
  ASSERT_OK(discard(0, Words));
  ASSERT_OK(discard(Words + 1024, Words + 2048));
  contentsBroughtIn();
  EXPECT_EQ(moved(Direction::FileToHost), 4 * MiB - 4096);
}

TEST_F(DiscardsTest, MemoryIsGivenBackWhereSomebodyMayWantIt) {
  for (At place : {At::Device, At::Host, At::Both}) {
    ASSERT_NO_FATAL_FAILURE(put(place));
    const uint64_t onDevice = parts->OnDevice.Pool.used();
    const uint64_t onHost = parts->Slabs.Pool.used();
    ASSERT_OK(discard(0, Words));
    EXPECT_EQ(parts->OnDevice.Pool.used(), onDevice);
    ASSERT_OK(discard(Words, Words + 1024, /*eager=*/true)); // a part
    EXPECT_EQ(parts->OnDevice.Pool.used(), onDevice);
    ASSERT_OK(discard(0, Words, /*eager=*/true));
    EXPECT_EQ(onDevice - parts->OnDevice.Pool.used(),
              place == At::Host ? 0 : 2 * MiB);
    EXPECT_EQ(onHost - parts->Slabs.Pool.used(),
              place == At::Device ? 0 : 2 * MiB);
    end();
  }
}

TEST_F(DiscardsTest, WhatOthersWorkOnStays) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Chunks[1]->holds.calls = 1;
  ASSERT_OK(discard(0, Count * Words, /*eager=*/true));
  ASSERT_OK(discard(Words, Words + 10));
  Chunks[1]->holds.calls = 0;
  EXPECT_EQ(Chunks[1]->defined, Chunks[1]->whole());
  std::vector<char> dead(Data.size(), true);
  std::fill(dead.begin() + long(Words), dead.begin() + long(2 * Words), false);
  expectAlive(dead, contents());
  end();
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Whole->kept = true;
  ASSERT_OK(discard(0, Count * Words, /*eager=*/true));
  EXPECT_TRUE(contents() == Data);
  end();
  ASSERT_NO_FATAL_FAILURE(put(At::File));
  Chunks[1]->holds.calls = 1;
  ASSERT_OK(discard(Words, Words + 10));
  Chunks[1]->holds.calls = 0;
  EXPECT_TRUE(contents() == Data);
}

TEST_F(DiscardsTest, ARangeThatIsNotTheProgramsIsAnError) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  const Status status = discard(Words, Count * Words + 1);
  EXPECT_EQ(status.code(), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(status.message(), HasSubstr("discard: "));
  EXPECT_TRUE(contents() == Data);
}

} // namespace
