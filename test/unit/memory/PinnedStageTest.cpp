//===- PinnedStageTest.cpp - pinned blocks for a copy ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/PinnedStage.h"
#include "test/unit/support/memory/LatePlacesFixture.h"

#include <optional>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr size_t Large = StagedCopies::MinimumBytes;
constexpr size_t LongRun =
    2 * StagedCopies::BlocksPerThread * StagedCopies::BlockBytes;

class PinnedStageTest : public LatePlacesFixture {
protected:
  /// A quarter of the host's memory is for transit, and of that a quarter for
  /// blocks.
  void start(uint64_t hostMemory) {
    settings.deviceMemory = 32 * MiB;
    settings.hostMemory = hostMemory;
    ASSERT_NO_FATAL_FAILURE(startParts(Large / (2 * MiB)));
  }
  void copy(size_t bytes, bool pageable) {
    Stage.emplace(parts->Ctx, parts->Slabs, nullptr, parts->Ctx.copyIn, bytes,
                  pageable);
  }
  uint64_t held() const { return parts->Slabs.Pool.used(); }
  /// One thread copies no faster than the device does.
  bool severalThreads() const { return StagedCopies::usefulBytes() > 0; }
  void TearDown() override {
    Stage.reset();
    LatePlacesFixture::TearDown();
  }

  std::optional<PinnedStage> Stage;
};

TEST_F(PinnedStageTest, LargeCopiesOfPageableMemoryHaveBlocks) {
  ASSERT_NO_FATAL_FAILURE(start(128 * MiB));
  const uint64_t transit = parts->Ctx.limits.transitBytes;
  copy(Large, /*pageable=*/true);
  EXPECT_EQ(held(), 0u); // none until a run needs them
  EXPECT_EQ(Stage->forRun(LongRun - 1), nullptr);
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(Stage->forRun(LongRun) != nullptr, severalThreads());
  const uint64_t blocks = held();
  EXPECT_LE(blocks, transit / 4);
  EXPECT_GE(blocks, severalThreads() ? LongRun : 0);
  // They are transit memory: others have all of the rest.
  EXPECT_TRUE(parts->Slabs.hasRoom(128 * MiB - transit));
  EXPECT_EQ(Stage->forRun(LongRun) != nullptr,
            severalThreads()); // the same ones
  EXPECT_EQ(held(), blocks);
  EXPECT_EQ(Stage->forRun(LongRun - 1), nullptr);
  ASSERT_OK(Stage->finish());
  EXPECT_EQ(held(), 0u);
  EXPECT_FALSE(parts->Slabs.hasRoom(128 * MiB - transit + 1));
  ASSERT_OK(Stage->finish()); // once
}

TEST_F(PinnedStageTest, OthersAreTheDevicesToCopy) {
  ASSERT_NO_FATAL_FAILURE(start(128 * MiB));
  copy(Large, /*pageable=*/false);
  EXPECT_EQ(Stage->forRun(Large), nullptr);
  copy(Large - 1, /*pageable=*/true);
  EXPECT_EQ(Stage->forRun(Large - 1), nullptr);
  EXPECT_EQ(held(), 0u);
}

TEST_F(PinnedStageTest, WhereTransitMemoryIsShortThereAreNone) {
  ASSERT_NO_FATAL_FAILURE(start(64 * MiB)); // 4 MiB for blocks
  copy(Large, /*pageable=*/true);
  EXPECT_EQ(Stage->forRun(Large), nullptr);
  EXPECT_EQ(held(), 0u);
  Stage.reset();
  parts.reset();
  Chunks.clear();
  ASSERT_NO_FATAL_FAILURE(start(128 * MiB)); // enough, but others have it
  while (parts->Slabs.Pool.hasRoom(LongRun))
    Others.push_back(*parts->Slabs.Pool.take(2 * MiB));
  const uint64_t others = held();
  copy(Large, /*pageable=*/true);
  EXPECT_EQ(Stage->forRun(Large), nullptr);
  EXPECT_EQ(held(), others); // what it had got is given back
  EXPECT_EQ(Stage->forRun(Large), nullptr);
  giveHost();
  EXPECT_EQ(Stage->forRun(Large), nullptr); // it is asked once
}

TEST_F(PinnedStageTest, BlocksAreGivenBackWhenTheirCopiesAreDone) {
  ASSERT_NO_FATAL_FAILURE(start(128 * MiB));
  const std::vector<int32_t> words = numbers(Large / 4, 5);
  for (Chunk *chunk : Chunks)
    Whole->note(*chunk, ChunkEvent::WrittenOnDevice);
  copy(Large, /*pageable=*/true);
  if (StagedCopies *copies = Stage->forRun(Large))
    ASSERT_OK(copies->toDevice(
        Whole->base, reinterpret_cast<const char *>(words.data()), Large));
  else
    ASSERT_OK(parts->Ctx.device->copy(pointer(Whole->base), words.data(), Large,
                                      CopyKind::HostToDevice, nullptr));
  Stage.reset();
  EXPECT_EQ(held(), 0u);
  parts->Slabs.Pool.trim();
  EXPECT_TRUE(contents() == words);
}

} // namespace
