//===- StagedFetchesTest.cpp - to the device while the caller goes on -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/StagedFetches.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/tier/FolderFixture.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

/// What is read of it is counted. From `pinned` on it is pinned, but for what
/// has been saved elsewhere.
class CountedSource final : public StagedFetches::Source {
public:
  void read(char *to, uintptr_t from, size_t bytes) override {
    Read += bytes;
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  }
  size_t pinnedBytes(uintptr_t from, size_t bytes) override {
    return from >= pinned ? bytes : 0;
  }
  bool hold(uintptr_t from, size_t bytes) override {
    std::lock_guard<std::mutex> guard(Lock);
    if (from <= saved && saved < from + bytes)
      return false;
    Holds.emplace(from, bytes);
    Held += bytes;
    return true;
  }
  void letGo(uintptr_t from, size_t bytes) override {
    std::lock_guard<std::mutex> guard(Lock);
    EXPECT_EQ(Holds.erase({from, bytes}), 1u);
  }
  bool isHeld() {
    std::lock_guard<std::mutex> guard(Lock);
    return !Holds.empty();
  }

  uintptr_t pinned = UINTPTR_MAX, saved = 0;
  std::atomic<size_t> Read{0}, Held{0};

private:
  std::mutex Lock;
  std::set<std::pair<uintptr_t, size_t>> Holds;
};

/// A device with a mapped buffer and pinned blocks for two threads.
class StagedFetchesTest : public FolderFixture {
protected:
  static constexpr size_t Bytes = 32 * MiB;

  void SetUp() override {
    FolderFixture::SetUp();
    settings.deviceMemory = Bytes;
    settings.poison = false;
    auto made = makeDevice();
    ASSERT_TRUE(made);
    auto late = std::make_unique<LateDevice>(std::move(made));
    Late = late.get();
    Dev = std::make_unique<FaultyDevice>(std::move(late), 0);
    Base = *Dev->reserve(Bytes);
    Memory = *Dev->create(Place::Device, Bytes);
    ASSERT_OK(Dev->map(Base, Memory));
    Slab = *Dev->create(Place::Pinned, 8 * MiB);
    Through = *Dev->createQueue(1, 0);
    Source.resize(Bytes);
    for (size_t i = 0; i < Bytes; ++i)
      Source[i] = char((i * 31 + i / 4096) >> 1);
    Fetches.emplace(*Dev, Through, Counted);
    ASSERT_OK(Fetches->addMemory(Slab));
    ASSERT_EQ(Fetches->threads(), 2u);
  }
  void TearDown() override {
    Dev->failAt(0);
    Fetches.reset();
    EXPECT_OK(Dev->destroyQueue(Through));
    EXPECT_OK(Dev->unmap(Base, Memory));
    EXPECT_OK(Dev->destroy(Memory));
    EXPECT_OK(Dev->destroy(Slab));
    EXPECT_OK(Dev->release(Base, Bytes));
    EXPECT_EQ(Late->misused(), 0u);
    Dev.reset();
    FolderFixture::TearDown();
  }

  StagedFetches::Range range(size_t at, size_t bytes) const {
    return {Base + at, reinterpret_cast<uintptr_t>(Source.data()) + at, bytes};
  }
  /// What is on the device, of what is queued.
  bool arrived(size_t at, size_t bytes) {
    EXPECT_OK(Dev->synchronize(Through));
    std::vector<char> found(bytes);
    EXPECT_OK(Dev->copy(found.data(), reinterpret_cast<void *>(Base + at),
                        bytes, CopyKind::DeviceToHost, Through));
    EXPECT_OK(Dev->synchronize(Through));
    return std::memcmp(found.data(), Source.data() + at, bytes) == 0;
  }

  LateDevice *Late = nullptr;
  std::unique_ptr<FaultyDevice> Dev;
  uintptr_t Base = 0;
  Physical Memory, Slab;
  Queue Through = nullptr;
  std::vector<char> Source;
  CountedSource Counted;
  std::optional<StagedFetches> Fetches;
};

TEST_F(StagedFetchesTest, BatchesAreQueuedInTheirOrder) {
  const StagedFetches::Range first[] = {range(0, 7 * MiB + 5),
                                        range(9 * MiB, 3)};
  const StagedFetches::Range second[] = {range(10 * MiB, 20 * MiB)};
  EXPECT_EQ(Fetches->start(first), 1u);
  EXPECT_EQ(Fetches->start({}), 2u);
  EXPECT_EQ(Fetches->start(second), 3u);
  ASSERT_OK(Fetches->finish(1));
  EXPECT_TRUE(arrived(0, 7 * MiB + 5));
  EXPECT_TRUE(arrived(9 * MiB, 3));
  ASSERT_OK(Fetches->finish(3));
  EXPECT_TRUE(Fetches->isQueued(1));
  EXPECT_TRUE(Fetches->isQueued(2));
  EXPECT_TRUE(Fetches->isQueued(3));
  EXPECT_TRUE(arrived(10 * MiB, 20 * MiB));
  EXPECT_EQ(Counted.Read, 27 * MiB + 8);
  ASSERT_OK(Fetches->stop());
  EXPECT_EQ(Fetches->threads(), 0u);
}

TEST_F(StagedFetchesTest, AnEmptyBatchIsQueued) {
  EXPECT_EQ(Fetches->start({}), 1u);
  EXPECT_TRUE(Fetches->isQueued(1));
  ASSERT_OK(Fetches->finish(1));
}

TEST_F(StagedFetchesTest, StopFinishesWhatHasBegun) {
  const StagedFetches::Range all[] = {range(0, Bytes)};
  Fetches->start(all);
  ASSERT_OK(Fetches->stop());
  EXPECT_EQ(Counted.Read, Bytes);
  EXPECT_TRUE(arrived(0, Bytes));
}

TEST_F(StagedFetchesTest, WhatIsPinnedGoesFromWhereItIs) {
  const auto begin = reinterpret_cast<uintptr_t>(Source.data());
  // One range is not pinned; of the other the first part is elsewhere.
  Counted.pinned = begin + 2 * MiB;
  Counted.saved = begin + 2 * MiB + 77;
  const StagedFetches::Range ranges[] = {range(0, 2 * MiB),
                                         range(2 * MiB, 22 * MiB + 5)};
  const uint64_t batch = Fetches->start(ranges);
  ASSERT_OK(Fetches->finish(batch));
  EXPECT_TRUE(arrived(0, 24 * MiB + 5));
  const size_t byBlocks = 2 * MiB + StagedFetches::HeldBytes;
  EXPECT_EQ(Counted.Read, byBlocks);
  EXPECT_EQ(Counted.Held, 24 * MiB + 5 - byBlocks);
  ASSERT_OK(Fetches->stop());
  EXPECT_FALSE(Counted.isHeld());
}

TEST_F(StagedFetchesTest, WhatIsHeldIsLetGoWhateverFails) {
  Counted.pinned = 0;
  const StagedFetches::Range all[] = {range(0, Bytes)};
  for (uint64_t call = 1; call <= 16; ++call) {
    SCOPED_TRACE(call);
    Dev->failAt(call);
    Status status = Fetches->finish(Fetches->start(all));
    const bool fails = !status.ok();
    status.ignore();
    // Also what tells that the device has read it may fail.
    while (Counted.isHeld())
      std::this_thread::yield();
    Dev->failAt(0);
    if (!fails)
      EXPECT_TRUE(arrived(0, Bytes));
  }
  EXPECT_EQ(Counted.Read, 0u);
}

TEST_F(StagedFetchesTest, AFailureIsOfItsBatchAlone) {
  const StagedFetches::Range first[] = {range(0, 8 * MiB)};
  const StagedFetches::Range second[] = {range(8 * MiB, 8 * MiB)};
  for (uint64_t call = 1; call <= 20; ++call) {
    SCOPED_TRACE(call);
    Dev->failAt(call);
    const uint64_t one = Fetches->start(first);
    Status failed = Fetches->finish(one);
    const bool fails = !failed.ok();
    failed.ignore();
    Dev->failAt(0);
    const uint64_t two = Fetches->start(second);
    ASSERT_OK(Fetches->finish(two));
    ASSERT_OK(Fetches->finish(one)); // told once
    EXPECT_TRUE(arrived(8 * MiB, 8 * MiB));
    if (!fails)
      EXPECT_TRUE(arrived(0, 8 * MiB));
    // Four parts: what they call is four copies and four records at least.
    if (call <= 4)
      EXPECT_TRUE(fails);
  }
}

} // namespace
