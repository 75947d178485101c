//===- ResidencyTest.cpp - bringing contents to where they are needed -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Residency.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/LatePlacesFixture.h"

#include <functional>
#include <limits>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

class ResidencyTest : public PlacesFixture {
protected:
  /// A device whose calls fail when the test says so.
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto faulty = std::make_unique<FaultyDevice>(
        std::move(cpu), std::numeric_limits<uint64_t>::max());
    Faulty = faulty.get();
    return faulty;
  }
  Status bringInAll(LaunchNeed need) {
    std::vector<ChunkUse> uses;
    for (Chunk *chunk : Chunks)
      uses.push_back(useOfAll(*chunk, need));
    parts->Ctx.pins.next();
    return parts->Resident.bringIn(uses, nullptr, Cause::Demand);
  }
  Status bringToHost(Chunk &chunk, LaunchNeed need) {
    parts->Ctx.pins.next();
    return parts->Resident.bringToHost(chunk, need, Cause::HostAccess);
  }
  /// All of it, and without memory for that.
  void makeZero(Chunk &chunk) {
    ASSERT_OK(parts->Data.forget(chunk));
    chunk.storage.put({0, chunk.used(), PieceKind::Zero, nullptr, 0});
    std::fill_n(Data.begin() + long(chunk.index * Words), Words, 0);
  }
  std::vector<int32_t> hostWords(const Chunk &chunk) {
    const auto *words = static_cast<const int32_t *>(chunk.host.hostView);
    return {words, words + Words};
  }
  std::vector<int32_t> expectedWords(const Chunk &chunk) {
    const auto first = Data.begin() + long(chunk.index * Words);
    return {first, first + long(Words)};
  }

  FaultyDevice *Faulty = nullptr;
};

TEST_F(ResidencyTest, ContentsComeFromWhereverTheyAre) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    const Copies before = copiesAt(place);
    ASSERT_OK(bringInAll(LaunchNeed::Write));
    for (const Chunk *chunk : Chunks) {
      // What the work writes is marked when it is queued.
      EXPECT_EQ(chunk->copies, (Copies{true, before.host, before.storage}));
      EXPECT_EQ(chunk->defined, chunk->whole());
    }
    const uint64_t all = Whole->bytes;
    EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand),
              before.device ? 0 : all);
    EXPECT_EQ(moved(Direction::FileToHost, Cause::Demand),
              place == At::File ? all : 0);
    EXPECT_EQ(moved(Direction::SwapToHost, Cause::Demand),
              place == At::Swap ? all : 0);
    EXPECT_TRUE(contents() == Data);
    // They are there now.
    ASSERT_OK(bringInAll(LaunchNeed::Read));
    EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand),
              before.device ? 0 : all);
    end();
  }
}

/// Data say what is touched, the next time something else.
TEST_F(ResidencyTest, PartsOfChunksComeAlone) {
  settings.poison = false;
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  Chunk &chunk = *Chunks[1];
  const size_t quarter = chunk.used() / 4;
  auto bring = [&](size_t begin, size_t end, bool partly = true,
                   LaunchNeed need = LaunchNeed::Read) {
    ChunkUse use = useOfAll(chunk, need);
    use.touched = {begin, end};
    use.partly = partly;
    parts->Ctx.pins.next();
    EXPECT_OK(parts->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
    return moved(Direction::HostToDevice, Cause::Demand);
  };
  EXPECT_EQ(bring(0, quarter), quarter);
  EXPECT_NE(chunk.device.id, 0u);
  EXPECT_FALSE(chunk.copies.device);
  EXPECT_EQ(Whole->numOnDevice, 0u);
  // What is there is there, and what lies beside it comes by itself.
  EXPECT_EQ(bring(quarter / 2, quarter), quarter);
  EXPECT_EQ(bring(quarter / 2, 2 * quarter), 2 * quarter);
  EXPECT_EQ(bring(3 * quarter, 3 * quarter + 8), 2 * quarter + 8);
  std::vector<int32_t> there(2 * quarter / sizeof(int32_t));
  ASSERT_OK(parts->Ctx.device->copy(
      there.data(), reinterpret_cast<void *>(chunk.va()), 2 * quarter,
      CopyKind::DeviceToHost, nullptr));
  const std::vector<int32_t> expected = expectedWords(chunk);
  EXPECT_TRUE(std::equal(there.begin(), there.end(), expected.begin()));
  // Others leave first, and then it goes without a copy.
  parts->Ctx.pins.next();
  const std::vector<EvictionCandidate> may = parts->OnDevice.candidates();
  ASSERT_EQ(may.size(), 1u);
  EXPECT_FALSE(may[0].empty);
  ASSERT_OK(parts->OnDevice.release(chunk));
  EXPECT_TRUE(chunk.partly.empty());
  EXPECT_EQ(bring(0, quarter), 3 * quarter + 8);
  // All of it, or most: that is a copy.
  EXPECT_EQ(bring(0, chunk.used()), 3 * quarter + 8 + chunk.used());
  EXPECT_TRUE(chunk.copies.device);
  EXPECT_TRUE(chunk.partly.empty());
  ASSERT_OK(parts->OnDevice.release(chunk));
  // Parts that make all of it are a copy.
  const uint64_t before = moved(Direction::HostToDevice, Cause::Demand);
  bring(2 * quarter, chunk.used());
  EXPECT_FALSE(chunk.copies.device);
  EXPECT_EQ(bring(0, 2 * quarter), before + chunk.used());
  EXPECT_TRUE(chunk.copies.device);
  EXPECT_TRUE(chunk.partly.empty());
  ASSERT_OK(parts->OnDevice.release(chunk));
  // So it is for launches of which data say nothing, if others go by data.
  EXPECT_EQ(bring(0, quarter, false), before + 2 * chunk.used());
  ASSERT_OK(parts->OnDevice.release(chunk));
  chunk.buffer->byData = true;
  EXPECT_EQ(bring(0, quarter, false), before + 2 * chunk.used() + quarter);
  ASSERT_OK(parts->OnDevice.release(chunk));
  // What is written has to be there as a whole.
  bring(0, quarter);
  bring(0, quarter, true, LaunchNeed::Write);
  EXPECT_TRUE(chunk.copies.device);
  EXPECT_TRUE(contents() == Data);
  // Other contents are not those that came.
  ASSERT_OK(parts->OnDevice.release(chunk));
  bring(0, quarter);
  ASSERT_OK(parts->Data.wroteHost(chunk));
  EXPECT_TRUE(chunk.partly.empty());
}

TEST_F(ResidencyTest, WhatIsOverwrittenDoesNotCome) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    const Copies before = copiesAt(place);
    ASSERT_OK(bringInAll(LaunchNeed::Overwrite));
    for (const Chunk *chunk : Chunks) {
      EXPECT_NE(chunk->device.id, 0u);
      // Valid once the work is queued; until then the others are.
      EXPECT_EQ(chunk->copies, before);
    }
    EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand), 0u);
    EXPECT_EQ(moved(Direction::FileToHost, Cause::Demand), 0u);
    EXPECT_EQ(moved(Direction::SwapToHost, Cause::Demand), 0u);
    EXPECT_EQ(parts->Ctx.ledger.avoided(Avoided::WriteOnly),
              before.device ? 0 : Whole->bytes);
    EXPECT_TRUE(contents() == Data);
    end();
  }
}

/// The device refuses the work, or what it needs besides cannot come: nothing
/// was written.
TEST_F(ResidencyTest, WhatIsNotOverwrittenAfterAllIsStillThere) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    ASSERT_OK(bringInAll(LaunchNeed::Overwrite));
    ASSERT_OK(bringInAll(LaunchNeed::Read));
    EXPECT_TRUE(contents() == Data);
    end();
  }
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  ASSERT_OK(bringToHost(*Chunks[1], LaunchNeed::Overwrite));
  ASSERT_OK(bringToHost(*Chunks[1], LaunchNeed::Read));
  EXPECT_EQ(hostWords(*Chunks[1]), expectedWords(*Chunks[1]));
  ASSERT_OK(evict(0, Count));
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ResidencyTest, ZerosAreMadeWhereTheyAreNeeded) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  for (Chunk *chunk : Chunks)
    makeZero(*chunk);
  ASSERT_OK(bringInAll(LaunchNeed::Read));
  ASSERT_OK(bringToHost(*Chunks[1], LaunchNeed::Read));
  EXPECT_EQ(Chunks[0]->copies, (Copies{true, false, true}));
  EXPECT_TRUE(contents() == Data);
  EXPECT_EQ(hostWords(*Chunks[1]), expectedWords(*Chunks[1]));
  EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand), 0u);
}

/// As a GPU's memory is when a program has just begun.
TEST_F(ResidencyTest, WhatIsUndefinedIsZero) {
  settings.poison = false;
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  std::fill(Data.begin(), Data.end(), 0);
  for (Chunk *chunk : Chunks)
    ASSERT_OK(parts->Data.forget(*chunk));
  ASSERT_OK(bringToHost(*Chunks[0], LaunchNeed::Write));
  EXPECT_EQ(hostWords(*Chunks[0]), expectedWords(*Chunks[0]));
  ASSERT_OK(bringInAll(LaunchNeed::Write));
  EXPECT_TRUE(contents() == Data);
  // So is the rest where a part is defined, whatever lies in the memory.
  Chunk &part = *Chunks[2];
  write(2 * Words, numbers(Words, 3));
  ASSERT_OK(parts->Data.forget(part));
  std::fill_n(Data.begin() + long(2 * Words), Words, 0);
  const std::vector<int32_t> some = numbers(100, 5);
  ASSERT_OK(bringToHost(part, LaunchNeed::Write));
  std::copy(some.begin(), some.end(),
            static_cast<int32_t *>(part.host.hostView) + 50);
  ASSERT_OK(parts->Data.wroteHost(part, {200, 600}));
  ASSERT_EQ(part.defined, (ChunkPart{200, 600}));
  std::copy(some.begin(), some.end(), Data.begin() + long(2 * Words + 50));
  ASSERT_OK(bringIn(part, LaunchNeed::Read));
  EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand), 400u);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(ResidencyTest, OnlyWhatIsDefinedMoves) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Chunk &chunk = *Chunks[1];
  chunk.defined = {4096, 12288};
  ASSERT_OK(bringToHost(chunk, LaunchNeed::Read));
  EXPECT_EQ(moved(Direction::DeviceToHost, Cause::HostAccess), 8192u);
  ASSERT_OK(parts->OnDevice.release(chunk));
  ASSERT_OK(bringIn(chunk, LaunchNeed::Read));
  EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand), 8192u);
  const std::vector<int32_t> found = contents();
  EXPECT_TRUE(std::equal(found.begin() + long(Words + 1024),
                         found.begin() + long(Words + 3072),
                         Data.begin() + long(Words + 1024)));
  EXPECT_NE(found[Words + 1023], Data[Words + 1023]); // poison
  EXPECT_NE(found[Words + 3072], Data[Words + 3072]);
}

TEST_F(ResidencyTest, OfAFilePiecesComeAndNotWhatIsBetween) {
  ASSERT_NO_FATAL_FAILURE(put(At::File));
  Chunk &chunk = *Chunks[0];
  chunk.storage.erase(4096, 8192);
  ASSERT_OK(bringIn(chunk, LaunchNeed::Read));
  EXPECT_EQ(moved(Direction::FileToHost, Cause::Demand), 2 * MiB - 4096);
  EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand), 2 * MiB - 4096);
  const std::vector<int32_t> found = contents();
  EXPECT_TRUE(std::equal(found.begin(), found.begin() + 1024, Data.begin()));
  EXPECT_TRUE(
      std::equal(found.begin() + 2048, found.end(), Data.begin() + 2048));
  EXPECT_NE(found[1024], Data[1024]); // poison
  EXPECT_NE(found[2047], Data[2047]);
}

TEST_F(ResidencyTest, WhatIsReadForTheSecondTimeStaysInHostMemory) {
  ASSERT_NO_FATAL_FAILURE(put(At::File));
  for (unsigned time : {1, 2, 3}) {
    SCOPED_TRACE(time);
    ASSERT_OK(bringInAll(LaunchNeed::Read));
    const bool stays = time > 1;
    for (const Chunk *chunk : Chunks)
      EXPECT_EQ(chunk->copies, (Copies{true, stays, true}));
    EXPECT_EQ(parts->Slabs.Pool.used(), stays ? Whole->bytes : 0);
    EXPECT_EQ(moved(Direction::FileToHost), std::min(time, 2u) * Whole->bytes);
    EXPECT_TRUE(contents() == Data);
    ASSERT_OK(evict(0, Count));
  }
}

TEST_F(ResidencyTest, WhatFindsNoRoomInHostMemoryIsReadAgain) {
  ASSERT_NO_FATAL_FAILURE(put(At::File));
  fillHost();
  for (unsigned time : {1, 2, 3}) {
    ASSERT_OK(bringInAll(LaunchNeed::Read));
    EXPECT_EQ(moved(Direction::FileToHost), time * Whole->bytes);
    EXPECT_FALSE(Chunks[0]->copies.host);
    ASSERT_OK(evict(0, Count));
  }
}

TEST_F(ResidencyTest, TheHostGetsACopyFromWhereverTheContentsAre) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    giveHost();
    const Copies before = copiesAt(place);
    Chunk &chunk = *Chunks[1];
    ASSERT_OK(bringToHost(chunk, LaunchNeed::Write));
    EXPECT_EQ(chunk.copies, (Copies{before.device, true, before.storage}));
    EXPECT_EQ(hostWords(chunk), expectedWords(chunk));
    EXPECT_EQ(moved(Direction::DeviceToHost, Cause::HostAccess),
              place == At::Device ? 2 * MiB : 0);
    EXPECT_EQ(moved(Direction::FileToHost, Cause::HostAccess),
              place == At::File ? 2 * MiB : 0);
    EXPECT_EQ(moved(Direction::SwapToHost, Cause::HostAccess),
              place == At::Swap ? 2 * MiB : 0);
    EXPECT_EQ(Chunks[0]->copies, before);
    end();
  }
}

TEST_F(ResidencyTest, HostMemoryToOverwriteHoldsNothingYet) {
  for (At place : {At::Device, At::File, At::Swap}) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    giveHost();
    ASSERT_OK(bringToHost(*Chunks[1], LaunchNeed::Overwrite));
    EXPECT_NE(Chunks[1]->host.id, 0u);
    EXPECT_EQ(Chunks[1]->copies, copiesAt(place));
    for (Direction direction : {Direction::DeviceToHost, Direction::FileToHost,
                                Direction::SwapToHost})
      EXPECT_EQ(moved(direction, Cause::HostAccess), 0u);
    end();
  }
}

TEST_F(ResidencyTest, OthersLeaveForWhatIsNeededTogether) {
  settings.deviceMemory = 8 * MiB; // 4 chunks
  ASSERT_NO_FATAL_FAILURE(startParts(6));
  write(0, numbers(6 * Words, 4));
  auto bring = [&](std::initializer_list<size_t> which) {
    std::vector<ChunkUse> uses;
    for (size_t i : which)
      uses.push_back(useOfAll(*Chunks[i], LaunchNeed::Read));
    ++parts->Ctx.clock;
    parts->Ctx.pins.next();
    return parts->Resident.bringIn(uses, nullptr, Cause::Demand);
  };
  auto expectOnDevice = [&](std::initializer_list<size_t> which) {
    for (size_t i : which) {
      EXPECT_TRUE(Chunks[i]->copies.device) << i;
      EXPECT_EQ(Chunks[i]->lastTouch, parts->Ctx.clock);
    }
  };
  ASSERT_OK(bring({0, 1, 2, 3}));
  expectOnDevice({0, 1, 2, 3});
  // Those that are there already do not make room for the others.
  ASSERT_OK(bring({5, 0, 4, 1}));
  expectOnDevice({5, 0, 4, 1});
  EXPECT_FALSE(Chunks[2]->copies.device || Chunks[3]->copies.device);
  const Status status = bring({0, 1, 2, 3, 4});
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("raise DRAGON_DEVICE_MEMORY"));
  EXPECT_TRUE(contents() == Data);
}

/// The n-th call fails, for all n.
TEST_F(ResidencyTest, AFailureLeavesEachChunkWithTheCopiesItHad) {
  const std::function<Status()> works[] = {
      [&] { return bringInAll(LaunchNeed::Read); },
      [&] { return bringToHost(*Chunks[1], LaunchNeed::Write); },
      [&] { return parts->Resident.keep(*Whole); }};
  for (const auto &work : works)
    for (At place : Places) {
      bool failed = true;
      for (uint64_t n = 1; failed; ++n) {
        SCOPED_TRACE(testing::Message() << "work " << &work - works << ", at "
                                        << int(place) << ", call " << n);
        ASSERT_NO_FATAL_FAILURE(put(place));
        giveHost();
        Faulty->failAt(n);
        const Status status = work();
        failed = Faulty->hasFailed();
        Faulty->failAt(std::numeric_limits<uint64_t>::max());
        EXPECT_TRUE(failed || status.ok()) << status.message();
        ASSERT_TRUE(contents() == Data);
        ASSERT_OK(bringInAll(LaunchNeed::Read));
        ASSERT_TRUE(contents() == Data);
        end();
      }
    }
}

TEST_F(ResidencyTest, WhatIsKeptIsOnTheDeviceAlone) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    ASSERT_OK(parts->Resident.keep(*Whole));
    EXPECT_TRUE(Whole->kept);
    EXPECT_TRUE(Whole->allDeviceOnly());
    EXPECT_TRUE(parts->OnDevice.candidates().empty());
    EXPECT_TRUE(contents() == Data);
    ASSERT_OK(parts->Resident.keep(*Whole)); // again
    end();
  }
}

TEST_F(ResidencyTest, WhatTheDeviceSeesInHostMemoryIsKeptThere) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  ASSERT_OK(writeOnHost(*Chunks[1]));
  ASSERT_OK(parts->Mapping.map(*Chunks[1]));
  ASSERT_OK(parts->Resident.keep(*Whole));
  EXPECT_TRUE(Chunks[1]->hostMapped);
  EXPECT_EQ(Chunks[1]->device.id, 0u);
  EXPECT_TRUE(Chunks[0]->copies.device && Chunks[2]->copies.device);
}

TEST_F(ResidencyTest, NoMoreIsKeptThanTheDeviceHolds) {
  settings.deviceMemory = 8 * MiB; // 4 chunks
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Buffer *other = makeBuffer(2, "other");
  ASSERT_OK(parts->Resident.keep(*Whole));
  const Status status = parts->Resident.keep(*other);
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("6 MiB of 8 MiB stay already"));
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_DEVICE_MEMORY"));
  EXPECT_FALSE(other->kept);
  Buffer *small = makeBuffer(1, "small");
  EXPECT_OK(parts->Resident.keep(*small));
}

TEST_F(ResidencyTest, APrefetchMovesNobodyElse) {
  settings.deviceMemory = 8 * MiB; // 4 chunks
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Buffer *other = makeBuffer(3, "other");
  auto prefetch = [&](size_t first, size_t last) {
    return parts->Resident.prefetch(*other, other->base + first * 2 * MiB + 5,
                                    (last - first) * 2 * MiB + 1, nullptr);
  };
  auto isThere = [&](size_t i) { return other->chunks[i].copies.device; };
  ASSERT_OK(prefetch(1, 2)); // two chunks, of which one fits
  EXPECT_FALSE(isThere(0));
  EXPECT_TRUE(isThere(1));
  EXPECT_FALSE(isThere(2));
  EXPECT_TRUE(Whole->allOnDevice());
  // Memory that holds nothing is room; unless a call needs it.
  ASSERT_OK(parts->Data.forget(*Chunks[0]));
  Chunks[0]->holds.calls = 1;
  ASSERT_OK(prefetch(1, 2));
  EXPECT_FALSE(isThere(2));
  Chunks[0]->holds.calls = 0;
  ASSERT_OK(prefetch(1, 2));
  EXPECT_TRUE(isThere(2));
  EXPECT_EQ(Chunks[0]->device.id, 0u);
  EXPECT_TRUE(Chunks[1]->copies.device && Chunks[2]->copies.device);
  ASSERT_OK(prefetch(0, 0)); // no room
  EXPECT_FALSE(isThere(0));
}

class LateResidencyTest : public LatePlacesFixture {
protected:
  void SetUp() override {
    LatePlacesFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(put(At::Host));
    makeQueue();
  }
  /// What work in the queue finds there.
  std::vector<int32_t> foundIn(Queue queue, const Chunk &chunk) {
    std::vector<int32_t> found(Words);
    EXPECT_OK(parts->Ctx.device->copy(found.data(), pointer(chunk.va()),
                                      2 * MiB, CopyKind::DeviceToHost, queue));
    EXPECT_OK(parts->Ctx.device->synchronize(queue));
    return found;
  }
};

TEST_F(LateResidencyTest, TheWorksQueueWaitsForWhatItNeeds) {
  const ChunkUse now = useOfAll(*Chunks[0], LaunchNeed::Read);
  ASSERT_OK(parts->Resident.bringIn({&now, 1}, Program, Cause::Demand));
  EXPECT_EQ(Late->waits(Program), 1u);
  EXPECT_EQ(foundIn(Program, *Chunks[0]), expectedIn(*Chunks[0]));
  const ChunkUse later = useOfAll(*Chunks[1], LaunchNeed::Read);
  ASSERT_OK(parts->Resident.startBringingIn({&later, 1}, Cause::Prefetch));
  EXPECT_EQ(Late->waits(Program), 1u);
  // It is on its way already, and has to have come.
  ASSERT_OK(parts->Resident.bringIn({&later, 1}, Program, Cause::Demand));
  EXPECT_EQ(Late->waits(Program), 2u);
  EXPECT_EQ(foundIn(Program, *Chunks[1]), expectedIn(*Chunks[1]));
}

/// They do not come behind what is fetched for later work.
TEST_F(LateResidencyTest, WhatIsFilledIsFilledInTheQueueOfFills) {
  Chunk &zeros = *Chunks[0];
  ASSERT_OK(bringIn(zeros, LaunchNeed::Read));
  ASSERT_OK(parts->Time.synchronizeAll());
  ASSERT_OK(parts->Data.forget(zeros));
  zeros.storage.put({0, zeros.used(), PieceKind::Zero, nullptr, 0});
  ASSERT_EQ(foundIn(Program, zeros), expectedIn(zeros)); // still
  const ChunkUse uses[] = {useOfAll(*Chunks[1], LaunchNeed::Read),
                           useOfAll(zeros, LaunchNeed::Read)};
  ASSERT_OK(parts->Resident.startBringingIn(uses, Cause::Demand, Program));
  EXPECT_EQ(foundIn(Program, zeros), std::vector<int32_t>(Words, 0));
  EXPECT_FALSE(parts->Time.Fetches.done(Chunks[1]->transit.arrival));
}

TEST_F(LateResidencyTest, TheHostsCopyIsThereWhenItIsBrought) {
  const ChunkUse use = useOfAll(*Chunks[0], LaunchNeed::Read);
  ASSERT_OK(parts->Resident.bringIn({&use, 1}, Program, Cause::Demand));
  ASSERT_OK(parts->Data.wroteDevice(*Chunks[0]));
  ASSERT_OK(
      parts->Ctx.device->fill(pointer(Chunks[0]->va()), 7, 4, Words, Program));
  Chunk *used[] = {Chunks[0]};
  ASSERT_OK(parts->Time.noteUse(used, Program));
  ASSERT_OK(parts->Resident.bringToHost(*Chunks[0], LaunchNeed::Read,
                                        Cause::HostAccess));
  const auto *words = static_cast<const int32_t *>(Chunks[0]->host.hostView);
  EXPECT_EQ(std::vector<int32_t>(words, words + Words),
            std::vector<int32_t>(Words, 7));
}

} // namespace
