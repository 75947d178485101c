//===- DeviceChunksTest.cpp - chunks in device memory, and who leaves -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DeviceChunks.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/LatePlacesFixture.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

/// Has less memory than it said.
class ShortDevice final : public ForwardingDevice {
public:
  using ForwardingDevice::ForwardingDevice;
  uint64_t Left = std::numeric_limits<uint64_t>::max();
  dragon_error Refusal = DRAGON_ERROR_OUT_OF_MEMORY;

private:
  Status before(DeviceCall) override { return {}; }
  StatusOr<Physical> createImpl(Place place, size_t bytes) override {
    if (place == Place::Device && Left < bytes)
      return Status::error(Refusal, "refused");
    Left -= place == Place::Device ? bytes : 0;
    return inner().create(place, bytes);
  }
};

class DeviceChunksTest : public PlacesFixture {
protected:
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto less = std::make_unique<ShortDevice>(std::move(cpu));
    Short = less.get();
    auto faulty = std::make_unique<FaultyDevice>(std::move(less), 0);
    Faulty = faulty.get();
    return faulty;
  }
  /// Dirty contents on a device of so many chunks, used one after the other.
  void startDirty(size_t chunks) {
    settings.deviceMemory = chunks * 2 * MiB;
    ASSERT_NO_FATAL_FAILURE(startParts(chunks));
    write(0, numbers(chunks * Words, 9));
    parts->Time.Tracking = true;
    for (Chunk *chunk : Chunks)
      chunk->lastTouch = ++parts->Ctx.clock;
    ++parts->Ctx.clock;
    parts->Ctx.pins.next();
  }
  DeviceChunks &memory() { return parts->OnDevice; }
  const EvictionCandidate *
  candidateOf(const std::vector<EvictionCandidate> &from, const Chunk &chunk) {
    for (const EvictionCandidate &one : from)
      if (memory().Chunks[one.index] == &chunk)
        return &one;
    return nullptr;
  }

  ShortDevice *Short = nullptr;
  FaultyDevice *Faulty = nullptr;
};

/// The next call may be long in coming: the program waits for a message.
TEST_F(DeviceChunksTest, WhatTheLastCallPinnedIsGivenBackToOthers) {
  ASSERT_NO_FATAL_FAILURE(startDirty(2));
  for (Chunk *chunk : Chunks)
    parts->Ctx.pins.add(*chunk);
  EXPECT_TRUE(memory().follow(2 * MiB));
  EXPECT_EQ(memory().Pool.held(), 2 * MiB);
  // What a call works on stays until its end.
  for (Chunk *chunk : Chunks)
    chunk->holds.calls = 1;
  EXPECT_FALSE(memory().follow(0));
  for (Chunk *chunk : Chunks)
    chunk->holds.calls = 0;
  EXPECT_TRUE(memory().follow(0));
  EXPECT_EQ(memory().Pool.held(), 0u);
}

TEST_F(DeviceChunksTest, AChunkIsListedWhileItHasMemory) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  Chunk &chunk = *Chunks[1];
  chunk.transit.lastUse = 5;
  chunk.dying = true;
  ASSERT_OK(memory().map(chunk));
  EXPECT_NE(chunk.device.id, 0u);
  EXPECT_EQ(memory().Chunks, std::vector<Chunk *>{&chunk});
  EXPECT_EQ(memory().Pool.used(), 2 * MiB);
  EXPECT_EQ(chunk.transit.lastUse, 0u);
  EXPECT_FALSE(chunk.dying);
  EXPECT_EQ(chunk.copies, copiesAt(At::Host)); // it holds nothing yet
  chunk.transit.copiedAhead = true;
  ASSERT_OK(memory().release(chunk));
  EXPECT_EQ(chunk.device.id, 0u);
  EXPECT_TRUE(memory().Chunks.empty());
  EXPECT_EQ(memory().Pool.used(), 0u);
  EXPECT_FALSE(chunk.transit.copiedAhead);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(DeviceChunksTest, WhatTheDeviceSeesInHostMemoryIsUnmappedThere) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  ASSERT_OK(parts->Mapping.map(*Chunks[0]));
  ASSERT_OK(memory().map(*Chunks[0]));
  EXPECT_FALSE(Chunks[0]->hostMapped);
  EXPECT_NE(Chunks[0]->device.id, 0u);
  EXPECT_TRUE(Chunks[0]->copies.host);
}

TEST_F(DeviceChunksTest, WhoWasUsedLongestAgoLeavesForAnother) {
  ASSERT_NO_FATAL_FAILURE(startDirty(4));
  Buffer *other = makeBuffer(2, "other");
  ASSERT_OK(memory().map(other->chunks[0]));
  EXPECT_EQ(Chunks[0]->device.id, 0u);
  EXPECT_TRUE(Chunks[0]->copies.host);
  parts->Ctx.pins.add(*Chunks[1]);
  ASSERT_OK(memory().makeRoom(2 * MiB));
  // It holds nothing.
  EXPECT_EQ(other->chunks[0].device.id, 0u);
  ASSERT_OK(memory().makeRoom(4 * MiB));
  EXPECT_NE(Chunks[1]->device.id, 0u);
  EXPECT_EQ(Chunks[2]->device.id, 0u);
  EXPECT_NE(Chunks[3]->device.id, 0u);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(DeviceChunksTest, WhatIsNeededAtOnceMustFit) {
  ASSERT_NO_FATAL_FAILURE(startDirty(4));
  for (Chunk *chunk : Chunks)
    parts->Ctx.pins.add(*chunk);
  for (uint64_t bytes : {2 * MiB, 10 * MiB}) {
    const Status status = memory().makeRoom(bytes);
    EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
    EXPECT_THAT(status.message(), HasSubstr("8 MiB of 8 MiB in use"));
    parts->Ctx.pins.next();
  }
  EXPECT_EQ(Whole->numOnDevice, 4u);
}

TEST_F(DeviceChunksTest, TheBudgetIsLoweredToWhatTheDeviceHas) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  memory().Pool.trim(); // or there would be slabs
  Short->Left = 4 * MiB;
  for (Chunk *chunk : Chunks)
    ASSERT_OK(memory().map(*chunk));
  EXPECT_EQ(memory().Pool.budget(), 4 * MiB);
  EXPECT_EQ(memory().Chunks.size(), 2u);
  EXPECT_NE(Chunks[2]->device.id, 0u);
}

TEST_F(DeviceChunksTest, OtherRefusalsAreErrors) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  memory().Pool.trim();
  Short->Left = 2 * MiB;
  Short->Refusal = DRAGON_ERROR_DEVICE;
  ASSERT_OK(memory().map(*Chunks[0]));
  EXPECT_EQ(memory().map(*Chunks[1]).code(), DRAGON_ERROR_DEVICE);
  EXPECT_EQ(memory().Pool.budget(), 16 * MiB);
  EXPECT_NE(Chunks[0]->device.id, 0u);
  EXPECT_EQ(Chunks[1]->device.id, 0u);
  // Nor is there anybody who could leave.
  Short->Refusal = DRAGON_ERROR_OUT_OF_MEMORY;
  ASSERT_OK(memory().release(*Chunks[0]));
  memory().Pool.trim();
  Short->Left = 0;
  EXPECT_EQ(memory().map(*Chunks[0]).code(), DRAGON_ERROR_OUT_OF_MEMORY);
}

TEST_F(DeviceChunksTest, WhatIsHeldIsNoCandidate) {
  ASSERT_NO_FATAL_FAILURE(startDirty(4));
  parts->Ctx.pins.add(*Chunks[0]);
  Chunks[1]->holds.calls = 1;
  const auto from = memory().candidates();
  EXPECT_EQ(from.size(), 2u);
  EXPECT_TRUE(candidateOf(from, *Chunks[2]) && candidateOf(from, *Chunks[3]));
  Whole->kept = true;
  EXPECT_TRUE(memory().candidates().empty());
  Whole->kept = false;
  Chunks[1]->holds.calls = 0;
  parts->Ctx.pins.next();
  EXPECT_EQ(memory().candidates().size(), 4u);
}

TEST_F(DeviceChunksTest, CandidatesAreWhatTheirChunksAre) {
  ASSERT_NO_FATAL_FAILURE(startDirty(4));
  ASSERT_OK(parts->Data.forget(*Chunks[0]));
  ASSERT_OK(parts->Resident.bringToHost(*Chunks[1], LaunchNeed::Read,
                                        Cause::Prefetch));
  Chunks[2]->nextUse = {777, /*overwritten=*/true};
  parts->Ctx.pins.next();
  memory().InUseSince = Chunks[3]->lastTouch;
  memory().WaitsCount = 3;
  for (const Chunk *chunk : Chunks) {
    const auto from = memory().candidates();
    const EvictionCandidate *one = candidateOf(from, *chunk);
    ASSERT_TRUE(one);
    const uint32_t i = chunk->index;
    EXPECT_EQ(one->bytes, 2 * MiB);
    EXPECT_EQ(one->empty, i == 0);
    EXPECT_EQ(one->copies, i > 1); // the host has the others'
    EXPECT_EQ(one->nextUse, i == 2 ? 777 : 0);
    EXPECT_EQ(one->returns, i != 2);
    EXPECT_EQ(one->lastTouch, chunk->lastTouch);
    EXPECT_EQ(one->waits, chunk->lastTouch >= memory().InUseSince ? 3u : 0u);
    EXPECT_FALSE(one->keepLast || one->busy);
  }
  Whole->lastTouch = parts->Ctx.clock;
  Whole->advice = DRAGON_ADVISE_KEEP_DEVICE;
  for (const EvictionCandidate &one : memory().candidates()) {
    EXPECT_EQ(one.lastTouch, parts->Ctx.clock);
    EXPECT_TRUE(one.keepLast && one.waits);
  }
}

TEST_F(DeviceChunksTest, WhoLeavesIsCopiedOutIfNobodyElseHasIt) {
  for (At place : {At::Device, At::Both, At::File, At::Swap}) {
    for (bool hostIsFull : {false, true}) {
      SCOPED_TRACE(testing::Message() << int(place) << " " << hostIsFull);
      ASSERT_NO_FATAL_FAILURE(put(place));
      giveHost();
      for (Chunk *chunk : Chunks)
        ASSERT_OK(bringIn(*chunk, LaunchNeed::Read));
      if (hostIsFull)
        fillHost();
      const uint64_t before = moved(Direction::DeviceToHost, Cause::Eviction);
      const uint64_t swapped = moved(Direction::HostToSwap);
      ASSERT_OK(evict(0, Count));
      ASSERT_OK(parts->Writes.finishAll());
      EXPECT_TRUE(memory().Chunks.empty());
      const bool copies = place == At::Device;
      EXPECT_EQ(moved(Direction::DeviceToHost, Cause::Eviction) - before,
                copies ? Whole->bytes : 0);
      EXPECT_EQ(moved(Direction::HostToSwap) - swapped,
                copies && hostIsFull ? Whole->bytes : 0);
      EXPECT_EQ(parts->Ctx.ledger.avoided(Avoided::Clean),
                copies ? 0 : Whole->bytes);
      for (const Chunk *chunk : Chunks)
        EXPECT_FALSE(chunk->holds.inTransit);
      EXPECT_EQ(Whole->moving, 0u);
      EXPECT_TRUE(contents() == Data);
      EXPECT_TRUE(contentsBroughtIn() == Data);
      end();
    }
  }
}

TEST_F(DeviceChunksTest, WhatWasCopiedOutAheadGoesAtOnce) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Chunk &chunk = *Chunks[0];
  auto copied = memory().copyOut(chunk, Cause::Prefetch);
  ASSERT_TRUE(copied.ok() && *copied);
  EXPECT_EQ(chunk.copies, (Copies{true, true, false}));
  EXPECT_TRUE(chunk.transit.copiedAhead);
  EXPECT_EQ(moved(Direction::DeviceToHost, Cause::Prefetch), 2 * MiB);
  copied = memory().copyOut(chunk, Cause::Prefetch); // it has been
  ASSERT_TRUE(copied.ok());
  EXPECT_FALSE(*copied);
  ASSERT_OK(evict(0, 1));
  EXPECT_EQ(moved(Direction::DeviceToHost), 2 * MiB);
  EXPECT_EQ(parts->Ctx.ledger.counter(Counter::Evictions), 1u);
  EXPECT_EQ(parts->Ctx.ledger.avoided(Avoided::Clean), 0u); // it was not
  // Where host memory is full, it would go to storage.
  fillHost();
  copied = memory().copyOut(*Chunks[1], Cause::Prefetch);
  ASSERT_TRUE(copied.ok());
  EXPECT_FALSE(*copied);
  EXPECT_EQ(Chunks[1]->copies, copiesAt(At::Device));
  EXPECT_TRUE(contents() == Data);
}

TEST_F(DeviceChunksTest, WhatWasDiscardedIsACopyThatIsNotMade) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  ASSERT_OK(parts->Data.forget(*Chunks[0]));
  ASSERT_TRUE(Chunks[0]->discardedDirty);
  ASSERT_OK(evict(0, 1));
  EXPECT_FALSE(Chunks[0]->discardedDirty);
  EXPECT_EQ(moved(Direction::DeviceToHost), 0u);
  EXPECT_EQ(parts->Ctx.ledger.avoided(Avoided::Discard), 2 * MiB);
}

/// The n-th call fails, for all n.
TEST_F(DeviceChunksTest, WhatCannotLeaveStaysWhereItWas) {
  for (bool hostIsFull : {false, true}) {
    bool failed = true;
    for (uint64_t n = 1; failed; ++n) {
      SCOPED_TRACE(testing::Message() << hostIsFull << ", call " << n);
      ASSERT_NO_FATAL_FAILURE(put(At::Device));
      if (hostIsFull)
        fillHost();
      Faulty->failAt(n);
      const Status status = evict(0, Count);
      failed = Faulty->hasFailed();
      Faulty->failAt(0);
      EXPECT_TRUE(failed || status.ok()) << status.message();
      for (const Chunk *chunk : Chunks)
        EXPECT_FALSE(chunk->holds.inTransit);
      EXPECT_EQ(Whole->moving, 0u);
      ASSERT_TRUE(contents() == Data);
      ASSERT_OK(evict(0, Count));
      ASSERT_TRUE(contents() == Data);
      end();
    }
  }
}

/// Of who leaves all copies are made first; each one goes when its memory is
/// wanted, and not before.
TEST_F(DeviceChunksTest, EachLeavesWhenItsMemoryIsWanted) {
  for (bool hostIsFull : {false, true}) {
    SCOPED_TRACE(hostIsFull);
    ASSERT_NO_FATAL_FAILURE(put(At::Device));
    if (hostIsFull)
      fillHost();
    parts->Ctx.pins.next();
    memory().Pool.setBudget(memory().Pool.used());
    auto there = [this] {
      return std::count_if(Chunks.begin(), Chunks.end(),
                           [](const Chunk *chunk) { return chunk->device.id; });
    };
    const auto before = there();
    {
      DeviceChunks::Exchange exchange(memory());
      ASSERT_OK(exchange.begin(4 * MiB));
      EXPECT_EQ(moved(Direction::DeviceToHost), hostIsFull ? 0 : 4 * MiB);
      EXPECT_EQ(there(), before);
      ASSERT_OK(exchange.makeRoom(2 * MiB));
      EXPECT_TRUE(memory().Pool.hasRoom(2 * MiB));
      EXPECT_EQ(there(), before - 1);
      ASSERT_OK(exchange.makeRoom(4 * MiB));
      EXPECT_EQ(there(), before - 2);
      EXPECT_EQ(moved(Direction::DeviceToHost), 4 * MiB);
    }
    ASSERT_OK(parts->Writes.finishAll());
    EXPECT_TRUE(contents() == Data);
    end();
  }
}

/// Where host memory would have to be made first, that of a chunk that was written
/// on the device since is as good; not one of another size, nor one that somebody
/// is about to use.
TEST_F(DeviceChunksTest, HostMemoryThatHoldsNothingIsTakenOver) {
  ASSERT_NO_FATAL_FAILURE(put(At::Both));
  ASSERT_OK(parts->Data.wroteDevice(*Chunks[0], Chunks[0]->whole()));
  ASSERT_OK(parts->Data.wroteDevice(*Chunks[1], Chunks[1]->whole()));
  const uint64_t ofFirst = Chunks[0]->host.id, ofSecond = Chunks[1]->host.id;
  ASSERT_NE(ofFirst, 0u);
  parts->Slabs.Pool.trim(); // none is ready
  const uint64_t used = parts->Slabs.Pool.used();
  Buffer *other = makeBuffer(3, "other");
  for (Chunk &chunk : other->chunks) {
    ASSERT_OK(bringIn(chunk, LaunchNeed::Overwrite));
    ASSERT_OK(parts->Data.wroteDevice(chunk, chunk.whole()));
  }
  parts->Ctx.pins.next();
  parts->Ctx.pins.add(*Chunks[0]);
  std::vector<uint64_t> taken;
  for (Chunk &chunk : other->chunks) {
    auto copied = memory().copyOut(chunk, Cause::Eviction);
    ASSERT_TRUE(copied.ok() && *copied);
    taken.push_back(chunk.host.id);
    if (taken.size() == 1)
      parts->Ctx.pins.next(); // nobody is about to use the first any more
  }
  EXPECT_EQ(taken[0], ofSecond);
  EXPECT_EQ(taken[1], ofFirst);
  EXPECT_EQ(Chunks[0]->host.id, 0u);
  EXPECT_EQ(Chunks[1]->host.id, 0u);
  EXPECT_EQ(parts->Slabs.Pool.used(), used + 2 * MiB); // the third one's is new
  ASSERT_OK(evict(0, Count));
  EXPECT_TRUE(contents() == Data);
}

/// One that went in another way meanwhile is not missed, and more go where those
/// that were chosen are not enough.
TEST_F(DeviceChunksTest, WhoHasLeftAlreadyIsReplaced) {
  ASSERT_NO_FATAL_FAILURE(startDirty(4));
  Buffer *other = makeBuffer(2, "other");
  DeviceChunks::Exchange exchange(memory());
  ASSERT_OK(exchange.begin(4 * MiB));
  ASSERT_OK(memory().evict({&Chunks[0], 1}, Cause::Eviction));
  ASSERT_OK(memory().map(other->chunks[0]));
  parts->Ctx.pins.add(other->chunks[0]);
  ASSERT_OK(exchange.makeRoom(2 * MiB));
  EXPECT_EQ(Chunks[1]->device.id, 0u);
  EXPECT_NE(Chunks[2]->device.id, 0u);
  ASSERT_OK(exchange.makeRoom(4 * MiB));
  EXPECT_EQ(Chunks[2]->device.id, 0u);
  EXPECT_NE(Chunks[3]->device.id, 0u);
}

TEST_F(DeviceChunksTest, WithoutSwapTheDeviceKeepsWhatItHas) {
  settings.swapDirs = {folder.path() + "/none"};
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  fillHost();
  EXPECT_FALSE(evict(0, Count).ok());
  for (const Chunk *chunk : Chunks) {
    EXPECT_EQ(chunk->copies, copiesAt(At::Device));
    EXPECT_NE(chunk->device.id, 0u);
    EXPECT_EQ(chunk->host.id, 0u);
  }
  EXPECT_TRUE(contents() == Data);
}

TEST_F(DeviceChunksTest, WhatHoldsNothingGivesItsMemoryBack) {
  ASSERT_NO_FATAL_FAILURE(put(At::Both));
  parts->Time.Tracking = false; // nobody wants it
  ASSERT_OK(parts->Data.forget(*Chunks[0]));
  ASSERT_OK(memory().giveBack(*Chunks[0]));
  EXPECT_NE(Chunks[0]->device.id, 0u);
  parts->Time.Tracking = true;
  Chunks[0]->discardedDirty = true;
  ASSERT_OK(memory().giveBack(*Chunks[0]));
  EXPECT_EQ(Chunks[0]->device.id, 0u);
  EXPECT_EQ(Chunks[0]->host.id, 0u);
  EXPECT_FALSE(Chunks[0]->dying);
  EXPECT_EQ(parts->Ctx.ledger.avoided(Avoided::Discard), 2 * MiB);
  // In this round it is needed; those that died later wait behind it.
  for (Chunk *chunk : {Chunks[1], Chunks[2]}) {
    ASSERT_OK(parts->Data.forget(*chunk));
    parts->Ctx.pins.set(*chunk, chunk == Chunks[1]);
    ASSERT_OK(memory().giveBack(*chunk));
    EXPECT_NE(chunk->device.id, 0u);
    EXPECT_TRUE(chunk->dying);
  }
  parts->Ctx.pins.next();
  // Contents have come anew.
  Whole->note(*Chunks[1], ChunkEvent::WrittenOnDevice);
  ASSERT_OK(memory().giveBackIdle());
  EXPECT_NE(Chunks[1]->device.id, 0u);
  EXPECT_FALSE(Chunks[1]->dying);
  EXPECT_EQ(Chunks[2]->device.id, 0u);
}

TEST_F(DeviceChunksTest, ADestroyedBufferGivesNothingBack) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Buffer *other = makeBuffer(1, "other");
  parts->Ctx.pins.add(other->chunks[0]);
  ASSERT_OK(memory().giveBack(other->chunks[0]));
  ASSERT_OK(free(*other));
  ASSERT_OK(memory().giveBackIdle());
  EXPECT_EQ(memory().Chunks.size(), Count);
}

TEST_F(DeviceChunksTest, RoomThatNobodyHasToLeaveFor) {
  settings.deviceMemory = 8 * MiB; // 4 chunks
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  EXPECT_FALSE(parts->Ctx.watcher);
  EXPECT_TRUE(memory().hasRoomForFree(2 * MiB));
  EXPECT_FALSE(memory().hasRoomForFree(4 * MiB));
  ASSERT_OK(parts->Data.forget(*Chunks[0]));
  EXPECT_TRUE(memory().hasRoomForFree(4 * MiB));
  Chunks[0]->holds.calls = 1;
  EXPECT_FALSE(memory().hasRoomForFree(4 * MiB));
  Chunks[0]->holds.calls = 0;
  Whole->kept = true;
  EXPECT_FALSE(memory().hasRoomForFree(4 * MiB));
  Whole->kept = false;
  Buffer *other = makeBuffer(3, "other");
  const Chunk &chunk = other->chunks[0];
  ASSERT_EQ(chunk.device.id, 0u);
  EXPECT_TRUE(memory().fits(*Chunks[0])); // it has memory
  EXPECT_TRUE(memory().fits(*Chunks[1])); // and contents
  EXPECT_TRUE(memory().fits(chunk));
  ASSERT_OK(bringIn(*Chunks[0], LaunchNeed::Read));
  ASSERT_OK(memory().map(other->chunks[1]));
  EXPECT_TRUE(memory().fits(chunk)); // the other one holds nothing
  other->note(other->chunks[1], ChunkEvent::WrittenOnDevice);
  EXPECT_FALSE(memory().fits(chunk));
}

TEST_F(DeviceChunksTest, NothingMovesWhileEverythingFits) {
  settings.deviceMemory = 8 * MiB; // 4 chunks
  ASSERT_NO_FATAL_FAILURE(startParts(3));
  EXPECT_FALSE(memory().mayMove());
  parts->Time.Tracking = true;
  EXPECT_TRUE(memory().mayMove());
  parts->Time.Tracking = false;
  Buffer *other = makeBuffer(1, "other");
  EXPECT_FALSE(memory().mayMove());
  Buffer *more = makeBuffer(1, "more");
  EXPECT_TRUE(memory().mayMove());
  ASSERT_OK(free(*more));
  ASSERT_OK(free(*other));
  EXPECT_FALSE(memory().mayMove());
}

class LateDeviceChunksTest : public LatePlacesFixture {
protected:
  void SetUp() override {
    LatePlacesFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(put(At::Device));
    ASSERT_OK(parts->Time.synchronizeAll());
  }
  /// Work in the null queue, which sets the chunk's words.
  void use(Chunk &chunk, int32_t value) {
    ASSERT_OK(parts->Ctx.device->fill(pointer(chunk.va()), uint32_t(value), 4,
                                      Words, nullptr));
    Chunk *used[] = {&chunk};
    ASSERT_OK(parts->Time.noteUse(used, nullptr));
    std::fill_n(Data.begin() + long(chunk.index * Words), Words, value);
  }
};

TEST_F(LateDeviceChunksTest, WhatIsInUseIsBusyAndNotGivenBack) {
  use(*Chunks[1], 4);
  for (bool later : {false, true})
    for (const EvictionCandidate &one : parts->OnDevice.candidates(later))
      EXPECT_EQ(one.busy,
                !later && parts->OnDevice.Chunks[one.index] == Chunks[1]);
  ASSERT_OK(parts->Data.forget(*Chunks[1]));
  EXPECT_FALSE(parts->OnDevice.hasRoomForFree(12 * MiB));
  ASSERT_OK(parts->OnDevice.giveBack(*Chunks[1]));
  EXPECT_NE(Chunks[1]->device.id, 0u);
  ASSERT_OK(parts->Ctx.device->synchronize(nullptr));
  ASSERT_OK(parts->OnDevice.giveBackIdle());
  EXPECT_EQ(Chunks[1]->device.id, 0u);
}

TEST_F(LateDeviceChunksTest, WhatWorkHasWrittenIsCopiedOut) {
  use(*Chunks[0], 6);
  auto copied = parts->OnDevice.copyOut(*Chunks[0], Cause::Eviction);
  ASSERT_TRUE(copied.ok() && *copied);
  const uint64_t departure = Chunks[0]->transit.departure;
  EXPECT_FALSE(parts->Time.Departures.done(departure));
  ASSERT_OK(parts->Time.Departures.waitFor(departure));
  const auto *words = static_cast<const int32_t *>(Chunks[0]->host.hostView);
  EXPECT_EQ(std::vector<int32_t>(words, words + Words),
            std::vector<int32_t>(Words, 6));
}

TEST_F(LateDeviceChunksTest, WhatWorkHasWrittenIsEvicted) {
  for (bool hostIsFull : {true, false}) {
    use(*Chunks[0], 6);
    use(*Chunks[2], 8);
    if (hostIsFull)
      fillHost();
    ASSERT_OK(evict(0, Count));
    EXPECT_TRUE(contents() == Data);
    giveHost();
    for (Chunk *chunk : Chunks) {
      ASSERT_OK(bringIn(*chunk, LaunchNeed::Write));
      ASSERT_OK(parts->Data.wroteDevice(*chunk));
    }
  }
}

} // namespace
