//===- ContentsTest.cpp - what becomes of contents that change ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Contents.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <functional>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr ChunkPart Before{100, 200}; ///< defined at first

/// A chunk with each set of valid copies, before and after what happens to it.
class ContentsTest : public MemoryFixture {
protected:
  void SetUp() override {
    MemoryFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(startParts(2));
  }
  /// Storage is in swap, if it is valid; and nowhere, if it is not.
  void set(Chunk &chunk, Copies copies) {
    Whole->note(chunk, ChunkEvent::WrittenOnDevice);
    if (copies.host)
      Whole->note(chunk, ChunkEvent::ReachedHost);
    if (copies.storage) {
      auto swap = parts->Store.swapFile();
      ASSERT_TRUE(swap.ok());
      auto slot = (*swap)->allocate(chunk.used());
      ASSERT_TRUE(slot.ok());
      chunk.slot = *slot;
      chunk.storage.put({0, chunk.used(), PieceKind::Swap, nullptr, 0});
      chunk.fetched = true;
      Whole->note(chunk, ChunkEvent::Stored);
    }
    if (!copies.device)
      Whole->note(chunk, ChunkEvent::LeftDevice);
    chunk.defined = Before;
    chunk.discardedDirty = false;
    chunk.transit.copiedAhead = true;
    ASSERT_EQ(chunk.copies, copies);
  }
  using Check = std::function<void(Chunk &chunk, Copies before)>;
  void forEachSet(const Check &check) {
    for (bool tracking : {false, true})
      for (unsigned mask = 1; mask < 8; ++mask) {
        const Copies copies{bool(mask & 1), bool(mask & 2), bool(mask & 4)};
        SCOPED_TRACE(testing::Message()
                     << "tracking " << tracking << ", device " << copies.device
                     << ", host " << copies.host << ", storage "
                     << copies.storage);
        Chunk &chunk = *Chunks[0];
        ASSERT_OK(parts->Data.forget(chunk));
        parts->Time.Tracking = tracking;
        set(chunk, copies);
        check(chunk, copies);
        EXPECT_EQ(Chunks[1]->copies, Copies());
      }
  }
  static void expectNoStorage(const Chunk &chunk) {
    EXPECT_TRUE(chunk.storage.undefined());
    EXPECT_EQ(chunk.slot.bytes, 0u);
    EXPECT_FALSE(chunk.fetched);
  }
  /// Until it is known what launches write, it may be anything.
  ChunkPart hullIfKnown(const Chunk &chunk, ChunkPart part) const {
    return parts->Time.Tracking ? part : chunk.whole();
  }
};

TEST_F(ContentsTest, WhatIsWrittenIsTheOnlyCopy) {
  // With what was there before, if the copy had it.
  forEachSet([&](Chunk &chunk, Copies before) {
    chunk.discardedDirty = true;
    ASSERT_OK(parts->Data.wroteDevice(chunk, {150, 300}));
    EXPECT_EQ(chunk.copies, (Copies{true, false, false}));
    const size_t begin = before.device ? 100 : 150;
    EXPECT_EQ(chunk.defined, hullIfKnown(chunk, {begin, 300}));
    EXPECT_FALSE(chunk.discardedDirty);
    EXPECT_FALSE(chunk.transit.copiedAhead);
    expectNoStorage(chunk);
  });
  forEachSet([&](Chunk &chunk, Copies before) {
    chunk.discardedDirty = true;
    ASSERT_OK(parts->Data.wroteHost(chunk, {50, 60}));
    EXPECT_EQ(chunk.copies, (Copies{false, true, false}));
    const size_t end = before.host ? 200 : 60;
    EXPECT_EQ(chunk.defined, hullIfKnown(chunk, {50, end}));
    EXPECT_FALSE(chunk.discardedDirty);
    expectNoStorage(chunk);
  });
}

TEST_F(ContentsTest, AllOfItIsDefinedOnceAllOfItMayBeWritten) {
  forEachSet([&](Chunk &chunk, Copies) {
    ASSERT_OK(parts->Data.wroteDevice(chunk));
    EXPECT_EQ(chunk.defined, chunk.whole());
  });
}

TEST_F(ContentsTest, WhatIsForgottenIsUndefined) {
  forEachSet([&](Chunk &chunk, Copies before) {
    ASSERT_OK(parts->Data.forget(chunk));
    EXPECT_EQ(chunk.copies, Copies());
    EXPECT_TRUE(chunk.defined.empty());
    // A copy that need not be made; while all is in core, none would be.
    EXPECT_EQ(chunk.discardedDirty, parts->Time.Tracking && !before.storage);
    expectNoStorage(chunk);
  });
}

TEST_F(ContentsTest, LeavingStorageLeavesTheRest) {
  forEachSet([&](Chunk &chunk, Copies before) {
    if (!before.inMemory())
      return;
    parts->Data.leaveStorage(chunk);
    EXPECT_EQ(chunk.copies, (Copies{before.device, before.host, false}));
    EXPECT_EQ(chunk.defined, Before);
    expectNoStorage(chunk);
  });
}

TEST_F(ContentsTest, TheHostNoLongerSeesWhatIsForgotten) {
  Chunk &chunk = *Chunks[0];
  ASSERT_OK(writeOnHost(chunk));
  ASSERT_OK(parts->Mapping.map(chunk));
  ASSERT_TRUE(chunk.hostMapped);
  ASSERT_OK(parts->Data.forget(chunk));
  EXPECT_FALSE(chunk.hostMapped);
}

TEST_F(ContentsTest, WhatDiedIsForgottenUnlessItWasUsedSince) {
  Chunk &chunk = *Chunks[0];
  const std::function<void(uint64_t)> uses[] = {
      [](uint64_t) {}, // none
      [&](uint64_t died) { chunk.lastTouch = died; },
      [&](uint64_t died) { Whole->lastTouch = died + 1; },
      [&](uint64_t) { chunk.holds.calls = 1; },
      [&](uint64_t) { Whole->kept = true; }};
  for (const auto &use : uses) {
    write(0, numbers(2 * Words, 3));
    const uint64_t died = ++parts->Ctx.clock;
    parts->Data.forgetLater(chunk, died - 1);
    parts->Data.forgetLater(chunk, died); // the last time counts
    EXPECT_TRUE(chunk.copies.device);
    use(died);
    ASSERT_OK(parts->Data.forgetDead());
    EXPECT_EQ(chunk.copies.device, &use != &uses[0]);
    EXPECT_EQ(chunk.deadSince, 0u);
    EXPECT_TRUE(Chunks[1]->copies.device);
    chunk.holds.calls = 0;
    Whole->kept = false;
    chunk.lastTouch = Whole->lastTouch = 0;
    // It is asked once.
    ASSERT_OK(parts->Data.forgetDead());
    EXPECT_EQ(chunk.copies.device, &use != &uses[0]);
  }
}

TEST_F(ContentsTest, ADestroyedBufferIsNotForgottenLater) {
  write(0, numbers(2 * Words, 3));
  Buffer *other = makeBuffer(1, "other");
  const uint64_t died = ++parts->Ctx.clock;
  parts->Data.forgetLater(other->chunks[0], died);
  parts->Data.forgetLater(*Chunks[1], died);
  ASSERT_OK(free(*other));
  ASSERT_OK(parts->Data.forgetDead());
  EXPECT_EQ(Chunks[1]->copies, Copies());
  EXPECT_TRUE(Chunks[0]->copies.device);
}

TEST_F(ContentsTest, WhatIsMappedIsUndefinedUntilItIsAdopted) {
  ASSERT_TRUE(Chunks[0]->device.id); // everything fits
  Chunk &filed = *Chunks[1];
  filed.storage.put({0, filed.used(), PieceKind::Zero, nullptr, 0});
  const std::function<void(bool)> reasons[] = {
      [&](bool is) { parts->Time.Tracking = is; },
      [&](bool is) { Whole->hostAccessible = is; },
      [&](bool is) { Whole->driverMoved = is; }};
  for (const auto &setReason : reasons) {
    setReason(true);
    parts->Data.adoptMapped(*Whole);
    setReason(false);
    EXPECT_EQ(Chunks[0]->copies, Copies());
  }
  parts->Data.adoptMapped(*Whole);
  EXPECT_EQ(Chunks[0]->copies, (Copies{true, false, true}));
  EXPECT_EQ(filed.copies, Copies()); // its contents are known
}

TEST_F(ContentsTest, WhatIsRememberedIsSoUntilItMayHaveChanged) {
  Chunk &first = *Chunks[0], &second = *Chunks[1];
  const AddressRange range{first.va() + 100, first.va() + 108};
  uint64_t number = 0;
  auto isUnchanged = [&] { return parts->Data.isUnchanged(number); };
  auto remember = [&] {
    number = parts->Data.remember(range);
    return isUnchanged();
  };
  parts->Time.Tracking = false; // launches do not say what they write
  EXPECT_FALSE(remember());
  parts->Time.Tracking = true;
  EXPECT_TRUE(remember());
  ASSERT_OK(parts->Data.wroteDevice(second));
  ASSERT_OK(parts->Data.wroteDevice(first, {0, 100}));
  ASSERT_OK(parts->Data.wroteHost(first, {108, 200}));
  EXPECT_TRUE(isUnchanged());
  ASSERT_OK(parts->Data.wroteDevice(first, {50, 101}));
  EXPECT_FALSE(isUnchanged());
  const uint64_t older = number;
  EXPECT_TRUE(remember());
  EXPECT_FALSE(parts->Data.isUnchanged(older)) << "what it was before that";
  ASSERT_OK(parts->Data.wroteHost(first, {107, 200}));
  EXPECT_FALSE(isUnchanged());
  EXPECT_TRUE(remember());
  ASSERT_OK(parts->Data.forget(first));
  EXPECT_FALSE(isUnchanged());
  EXPECT_TRUE(remember());
  parts->Data.wroteInPlace(*Whole);
  EXPECT_FALSE(isUnchanged());
  EXPECT_TRUE(remember());
  parts->Data.noMore(*Whole);
  EXPECT_FALSE(isUnchanged());
}

} // namespace
