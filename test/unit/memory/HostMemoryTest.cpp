//===- HostMemoryTest.cpp - room in host memory ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostMemory.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/LatePlacesFixture.h"

#include <limits>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

/// There is less host memory than was said.
class ShortHost final : public ForwardingDevice {
public:
  using ForwardingDevice::ForwardingDevice;
  uint64_t Left = std::numeric_limits<uint64_t>::max();

private:
  Status before(DeviceCall) override { return {}; }
  StatusOr<Physical> createImpl(Place place, size_t bytes) override {
    if (place != Place::Device && Left < bytes)
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "refused");
    Left -= place != Place::Device ? bytes : 0;
    return inner().create(place, bytes);
  }
};

/// Host memory for eight chunks, of which two are for transit and three have
/// the contents.
class HostMemoryTest : public PlacesFixture {
protected:
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto less = std::make_unique<ShortHost>(std::move(cpu));
    Short = less.get();
    return less;
  }
  /// One after the other was used; others have the rest of host memory.
  void putAndFill(At place) {
    ASSERT_NO_FATAL_FAILURE(put(place));
    ASSERT_EQ(parts->Ctx.limits.transitBytes, 4 * MiB);
    for (Chunk *chunk : Chunks)
      chunk->lastTouch = ++parts->Ctx.clock;
    ++parts->Ctx.clock;
    parts->Ctx.pins.next();
    fillHost();
  }
  HostMemory &host() { return parts->Host; }
  /// What is being written has left then.
  Status makeRoom(bool dropOnly = false) {
    DRAGON_TRY(host().makeRoom(2 * MiB, /*forTransit=*/false, dropOnly));
    return parts->Writes.finishAll();
  }
  bool hasRoom() const { return parts->Slabs.hasRoom(2 * MiB); }
  bool isOnHost(size_t i) const { return Chunks[i]->host.id != 0; }

  ShortHost *Short = nullptr;
};

TEST_F(HostMemoryTest, WhoWasUsedLongestAgoLeavesForAnother) {
  ASSERT_NO_FATAL_FAILURE(putAndFill(At::Host));
  auto slab = host().take(2 * MiB);
  ASSERT_TRUE(slab.ok());
  EXPECT_EQ(slab->place, Place::Pinned);
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_FALSE(isOnHost(0));
  EXPECT_TRUE(isOnHost(1) && isOnHost(2));
  EXPECT_EQ(Chunks[0]->copies, copiesAt(At::Swap));
  EXPECT_EQ(moved(Direction::HostToSwap, Cause::Eviction), 2 * MiB);
  EXPECT_TRUE(contents() == Data);
  Others.push_back(*slab);
  parts->Ctx.clock += 10;
  Chunks[2]->nextUse.clock = parts->Ctx.clock + 1; // soon
  ASSERT_OK(makeRoom());
  EXPECT_TRUE(isOnHost(2));
  EXPECT_FALSE(isOnHost(1));
  EXPECT_TRUE(contents() == Data);
}

TEST_F(HostMemoryTest, WhereThereIsRoomNobodyLeaves) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  auto slab = host().take(2 * MiB);
  ASSERT_TRUE(slab.ok());
  EXPECT_EQ(parts->Slabs.Pool.used(), 8 * MiB);
  parts->Slabs.Pool.give(*slab);
}

TEST_F(HostMemoryTest, WhatOthersHoldAsWellGoesFirst) {
  ASSERT_NO_FATAL_FAILURE(putAndFill(At::Host));
  // The device has the last one again.
  ASSERT_OK(bringIn(*Chunks[2], LaunchNeed::Read));
  parts->Ctx.pins.next();
  ASSERT_OK(makeRoom());
  EXPECT_EQ(Chunks[2]->copies, copiesAt(At::Device));
  EXPECT_TRUE(isOnHost(0) && isOnHost(1));
  EXPECT_EQ(moved(Direction::HostToSwap), 0u);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(HostMemoryTest, ForADropNothingIsWritten) {
  ASSERT_NO_FATAL_FAILURE(putAndFill(At::Host));
  ASSERT_OK(makeRoom(/*dropOnly=*/true)); // as far as that goes
  EXPECT_FALSE(hasRoom());
  EXPECT_EQ(parts->Writes.begun(), 0u);
  // What was copied out will soon have no other copy.
  ASSERT_OK(bringIn(*Chunks[2], LaunchNeed::Read));
  parts->Ctx.pins.next();
  Chunks[2]->transit.copiedAhead = true;
  ASSERT_OK(makeRoom(/*dropOnly=*/true));
  EXPECT_FALSE(hasRoom());
  Chunks[2]->transit.copiedAhead = false;
  ASSERT_OK(makeRoom(/*dropOnly=*/true));
  EXPECT_TRUE(hasRoom());
  EXPECT_FALSE(isOnHost(2));
}

TEST_F(HostMemoryTest, WhatIsHeldStays) {
  ASSERT_NO_FATAL_FAILURE(putAndFill(At::Host));
  parts->Ctx.pins.add(*Chunks[0]);
  Chunks[1]->holds.inTransit = true;
  Chunks[2]->holds.mapped = true;
  const Status status = makeRoom();
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("2 MiB needed, 12 MiB of 16 MiB"));
  EXPECT_THAT(status.message(), HasSubstr("raise DRAGON_HOST_MEMORY"));
  EXPECT_FALSE(host().take(2 * MiB).ok());
  Chunks[2]->holds.mapped = false;
  ASSERT_OK(makeRoom());
  EXPECT_FALSE(isOnHost(2));
  Chunks[1]->holds.inTransit = false;
  EXPECT_TRUE(contents() == Data);
}

TEST_F(HostMemoryTest, WhatTheHostSeesLeavesLast) {
  ASSERT_NO_FATAL_FAILURE(putAndFill(At::Host));
  ASSERT_OK(parts->Mapping.map(*Chunks[0]));
  parts->Ctx.pins.next();
  ASSERT_OK(makeRoom());
  EXPECT_TRUE(Chunks[0]->hostMapped);
  EXPECT_FALSE(isOnHost(1));
  ASSERT_OK(host().makeRoom(6 * MiB, /*forTransit=*/false));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_FALSE(Chunks[0]->hostMapped || isOnHost(0) || isOnHost(2));
  EXPECT_TRUE(contents() == Data);
}

TEST_F(HostMemoryTest, TransitMemoryIsBesideWhatStays) {
  ASSERT_NO_FATAL_FAILURE(putAndFill(At::Host));
  std::vector<Physical> slabs;
  for (int i = 0; i < 2; ++i) { // what is kept free for it
    auto slab = host().takeTransit(2 * MiB);
    ASSERT_TRUE(slab.ok());
    slabs.push_back(*slab);
  }
  EXPECT_EQ(parts->Writes.begun(), 0u);
  EXPECT_EQ(parts->Slabs.Pool.used(), 16 * MiB);
  auto more = host().takeTransit(2 * MiB, Place::Host); // somebody leaves
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(more->place, Place::Host);
  EXPECT_FALSE(isOnHost(0));
  slabs.push_back(*more);
  EXPECT_TRUE(contents() == Data);
  for (const Physical &slab : slabs)
    parts->Slabs.Pool.give(slab);
}

TEST_F(HostMemoryTest, ReadsAheadGiveWay) {
  ASSERT_NO_FATAL_FAILURE(put(At::File));
  ASSERT_OK(parts->Reads.start(Chunks));
  ASSERT_EQ(parts->Reads.bytes(), 2 * MiB);
  fillHost();
  auto first = host().takeTransit(2 * MiB),
       second = host().takeTransit(2 * MiB);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(parts->Reads.bytes(), 0u);
  EXPECT_FALSE(host().takeTransit(2 * MiB).ok()); // nobody can leave
  parts->Slabs.Pool.give(*first);
  parts->Slabs.Pool.give(*second);
}

TEST_F(HostMemoryTest, TheBudgetIsLoweredToWhatTheHostHas) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  parts->Slabs.Pool.trim();
  Short->Left = 0;
  ++parts->Ctx.clock;
  parts->Ctx.pins.next();
  auto slab = host().take(2 * MiB);
  ASSERT_TRUE(slab.ok());
  EXPECT_EQ(parts->Slabs.Pool.budget(), 6 * MiB);
  EXPECT_EQ(parts->Slabs.Pool.used(), 4 * MiB); // and one for transit
  parts->Slabs.Pool.give(*slab);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(HostMemoryTest, WhatCannotGoOnIsAnError) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  parts->Slabs.Pool.trim();
  Short->Left = 0;
  EXPECT_EQ(host().take(2 * MiB).takeStatus().message(), "refused");
  EXPECT_EQ(host().takeTransit(2 * MiB).takeStatus().message(), "refused");
  EXPECT_EQ(parts->Slabs.Pool.budget(), 16 * MiB);
}

TEST_F(HostMemoryTest, ASlabThatIsGivenBackIsMappedNoMore) {
  ASSERT_NO_FATAL_FAILURE(put(At::Both));
  Chunk &chunk = *Chunks[0];
  ASSERT_OK(parts->Mapping.map(chunk));
  ASSERT_OK(host().unmap(chunk));
  EXPECT_FALSE(chunk.hostMapped);
  EXPECT_TRUE(chunk.copies.host); // the slab stays
  ASSERT_OK(host().unmap(chunk)); // once
  Chunk &other = *Chunks[1];
  ASSERT_OK(parts->Mapping.map(other));
  ASSERT_OK(parts->Data.forget(other));
  ASSERT_OK(host().release(other));
  EXPECT_FALSE(other.hostMapped);
  EXPECT_EQ(other.host.id, 0u);
  EXPECT_EQ(parts->Slabs.Chunks.size(), 2u);
  EXPECT_EQ(parts->Slabs.Pool.used(), 4 * MiB);
  ASSERT_OK(host().release(other)); // it has none
}

class LateHostMemoryTest : public LatePlacesFixture {};

TEST_F(LateHostMemoryTest, TransitMemoryComesBackFromItsCopies) {
  ASSERT_NO_FATAL_FAILURE(put(At::File));
  ASSERT_OK(writeOnHost(*Chunks[2])); // who could leave
  parts->Ctx.pins.next();
  fillHost();
  // Through two slabs, which the copies to the device still read.
  for (size_t i : {0, 1})
    ASSERT_OK(bringIn(*Chunks[i], LaunchNeed::Read));
  ASSERT_TRUE(parts->Slabs.anyTransit());
  for (int i = 0; i < 3; ++i) {
    auto slab = parts->Host.takeTransit(2 * MiB);
    ASSERT_TRUE(slab.ok());
    std::fill_n(static_cast<int32_t *>(slab->hostView), Words, 0);
    parts->Slabs.Pool.give(*slab);
  }
  EXPECT_EQ(parts->Writes.begun(), 0u);
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(LateHostMemoryTest, ASlabIsGivenBackWhenTheCopyToItIsDone) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  auto copied = parts->OnDevice.copyOut(*Chunks[0], Cause::Prefetch);
  ASSERT_TRUE(copied.ok() && *copied);
  ASSERT_OK(parts->Host.release(*Chunks[0]));
  EXPECT_TRUE(parts->Time.Departures.done(Chunks[0]->transit.departure));
  parts->Slabs.Pool.trim();
  EXPECT_TRUE(contents() == Data);
}

TEST_F(LateHostMemoryTest, WhatIsReadFromASlabLeavesItAfterwards) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  fillHost();
  ASSERT_OK(bringIn(*Chunks[0], LaunchNeed::Read)); // put off
  parts->Ctx.pins.next();
  ASSERT_OK(parts->Host.makeRoom(2 * MiB, /*forTransit=*/false));
  ASSERT_EQ(Chunks[0]->host.id, 0u);
  parts->Slabs.Pool.trim();
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

} // namespace
