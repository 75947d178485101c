//===- LastUsesTest.cpp - what dies with a launch -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LastUses.h"
#include "test/unit/support/memory/MemoryFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class LastUsesTest : public MemoryFixture {
protected:
  static constexpr size_t Count = 4;

  void SetUp() override {
    MemoryFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(startParts(Count));
    parts->Time.Tracking = true;
    write(0, numbers(Count * Words, 1));
    Ends =
        std::make_unique<LastUses>(parts->Ctx, parts->Space, parts->Discarded);
  }
  /// The chunks that still have contents.
  std::vector<size_t> alive() const {
    std::vector<size_t> result;
    for (size_t i = 0; i < Count; ++i)
      if (!Chunks[i]->defined.empty())
        result.push_back(i);
    return result;
  }
  LaunchCall callWith(std::span<const LastUse> uses) const {
    LaunchCall call{};
    call.lastUses = uses;
    return call;
  }
  using Those = std::vector<size_t>;

  std::unique_ptr<LastUses> Ends;
};

TEST_F(LastUsesTest, BytesAreCutAtTheBuffersEnd) {
  EXPECT_EQ(endOf({1000, 50}, 900, 200), 1050u);
  EXPECT_EQ(endOf({1000, 100}, 900, 200), 1100u);
  EXPECT_EQ(endOf({1000, 101}, 900, 200), 1100u);
  EXPECT_EQ(endOf({1000, SIZE_MAX}, 900, 200), 1100u);
}

TEST_F(LastUsesTest, WhatTheLaunchUsedLastIsDiscarded) {
  const uintptr_t base = Whole->base;
  const LastUse uses[] = {
      {base, 2 * MiB}, {base + 6 * MiB, SIZE_MAX}, {4096, 100}}; // in no buffer
  ASSERT_OK(Ends->end(callWith(uses)));
  EXPECT_EQ(alive(), (Those{1, 2}));
  // Eagerly: its memory is free.
  const uint64_t before = parts->OnDevice.Pool.used();
  const LastUse eager[] = {{base + 2 * MiB, 2 * MiB, true}};
  ASSERT_OK(Ends->end(callWith(eager)));
  EXPECT_EQ(alive(), Those{2});
  EXPECT_EQ(before - parts->OnDevice.Pool.used(), 2 * MiB);
}

TEST_F(LastUsesTest, SomeChunksAreLeftOut) {
  for (unsigned kept = 0; kept < 1u << Count; ++kept) {
    SCOPED_TRACE(kept);
    write(0, numbers(Count * Words, kept));
    Those expected;
    for (size_t i = 0; i < Count; ++i)
      if (kept >> i & 1)
        expected.push_back(i);
    ASSERT_OK(
        Ends->end({Whole->base, SIZE_MAX}, nullptr,
                  [&](const Chunk &chunk) { return kept >> chunk.index & 1; }));
    EXPECT_EQ(alive(), expected);
    const std::vector<int32_t> found = contents();
    for (size_t i : expected)
      EXPECT_TRUE(std::equal(found.begin() + long(i * Words),
                             found.begin() + long((i + 1) * Words),
                             Data.begin() + long(i * Words)));
  }
}

/// What begins or ends within a chunk ends there, also beside one that is left
/// out.
TEST_F(LastUsesTest, PartsOfChunksAreNotTakenForAllOfThem) {
  const uintptr_t from = Whole->base + MiB;
  ASSERT_OK(Ends->end({from, 4 * MiB}, nullptr,
                      [](const Chunk &chunk) { return chunk.index == 1; }));
  EXPECT_EQ(Chunks[0]->defined, (ChunkPart{0, MiB}));
  EXPECT_EQ(Chunks[1]->defined, Chunks[1]->whole());
  EXPECT_EQ(Chunks[2]->defined, (ChunkPart{MiB, 2 * MiB}));
  EXPECT_EQ(Chunks[3]->defined, Chunks[3]->whole());
}

TEST_F(LastUsesTest, OnlyWhatMayLoseItsContentsDies) {
  Buffer *other = makeBuffer(1, "other");
  const LastUse uses[] = {
      {Whole->base + 100, 1000}, {other->base, SIZE_MAX}, {4096, 100}};
  const LaunchCall call = callWith(uses);
  auto dying = Ends->dyingOf(call);
  ASSERT_EQ(dying.size(), 2u);
  EXPECT_EQ(dying[0].begin, Whole->base + 100);
  EXPECT_EQ(dying[0].end, Whole->base + 1100);
  EXPECT_EQ(dying[1].end, other->end());
  other->kept = true;
  EXPECT_EQ(Ends->dyingOf(call).size(), 1u);
  other->kept = false;
  other->arena = true; // others have the rest of the chunk
  EXPECT_EQ(Ends->dyingOf(call).size(), 1u);
  other->arena = false;
}

} // namespace
