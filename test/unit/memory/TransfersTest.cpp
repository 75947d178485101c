//===- TransfersTest.cpp - the program's copies and fills -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Transfers.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/LatePlacesFixture.h"

#include <cstring>
#include <functional>
#include <limits>
#include <random>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

constexpr uint64_t NeverAgain = std::numeric_limits<uint64_t>::max();

/// A device whose calls fail when the test says so.
class TransfersTest : public PlacesFixture {
protected:
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto faulty = std::make_unique<FaultyDevice>(std::move(cpu), NeverAgain);
    Faulty = faulty.get();
    return faulty;
  }
  Status toWhole(size_t at, const std::vector<int32_t> &words,
                 HostSide side = {/*pageable=*/true}) {
    return parts->Moves.toBuffer(*Whole, Whole->base + at * 4,
                                 reinterpret_cast<const char *>(words.data()),
                                 words.size() * 4, nullptr, side);
  }
  std::vector<int32_t> fromWhole(size_t at, size_t count) {
    std::vector<int32_t> found(count);
    EXPECT_OK(parts->Moves.fromBuffer(
        *Whole, reinterpret_cast<char *>(found.data()), Whole->base + at * 4,
        count * 4, nullptr, {/*pageable=*/true}));
    return found;
  }
  Status fill(size_t at, uint32_t value, size_t count) {
    return parts->Moves.fill(*Whole, Whole->base + at * 4, value, 4, count,
                             nullptr);
  }
  /// A buffer beside it, of as many chunks and with contents of its own.
  Buffer *makeOther() {
    Buffer *other = makeBuffer(Count, "other");
    OtherData = numbers(Count * Words, 63);
    EXPECT_OK(parts->Moves.toBuffer(
        *other, other->base, reinterpret_cast<const char *>(OtherData.data()),
        other->bytes, nullptr, {/*pageable=*/true}));
    return other;
  }

  FaultyDevice *Faulty = nullptr;
  std::vector<int32_t> OtherData;
};

TEST_F(TransfersTest, BytesAreTheSameWhereverTheyAre) {
  std::mt19937 random(17);
  for (At place : Places)
    for (int round = 0; round < 4; ++round) {
      SCOPED_TRACE(testing::Message() << int(place) << ", " << round);
      ASSERT_NO_FATAL_FAILURE(put(place));
      giveHost();
      Buffer *other = makeOther();
      for (int step = 0; step < 8; ++step) {
        // Ends of chunks, and others.
        auto word = [&] {
          const size_t some = random() % (Count * Words + 1);
          return random() % 3 ? some : (some + Words / 2) / Words * Words;
        };
        size_t from = word(), to = word();
        if (from > to)
          std::swap(from, to);
        const size_t count = to - from;
        const size_t source = random() % (Count * Words - count + 1);
        const auto at = Data.begin() + long(from);
        if (!count)
          continue;
        switch (random() % 4) {
        case 0: {
          const std::vector<int32_t> fresh = numbers(count, uint32_t(random()));
          ASSERT_OK(toWhole(from, fresh, {bool(random() % 2)}));
          std::copy(fresh.begin(), fresh.end(), at);
          break;
        }
        case 1: {
          const uint32_t value = random() % 2 ? 0 : uint32_t(random());
          ASSERT_OK(fill(from, value, count));
          std::fill_n(at, count, int32_t(value));
          break;
        }
        case 2:
          ASSERT_OK(parts->Moves.between(*Whole, Whole->base + from * 4, *other,
                                         other->base + source * 4, count * 4,
                                         nullptr));
          std::copy_n(OtherData.begin() + long(source), count, at);
          break;
        default:
          ASSERT_TRUE(
              std::equal(at, at + long(count), fromWhole(from, count).begin()));
        }
      }
      ASSERT_TRUE(contents() == Data);
      ASSERT_TRUE(contentsBroughtIn() == Data);
      end();
    }
}

TEST_F(TransfersTest, ElementsOfEachWidthAreFilled) {
  ASSERT_NO_FATAL_FAILURE(put(At::Swap));
  giveHost();
  auto *bytes = reinterpret_cast<char *>(Data.data());
  for (unsigned width : {1, 2, 4}) {
    // Across the end of a chunk.
    const size_t begin = std::min(width, 2u) * 2 * MiB - 12, count = 13;
    ASSERT_OK(parts->Moves.fill(*Whole, Whole->base + begin, 0x04030201, width,
                                count, nullptr));
    for (size_t i = 0; i < count * width; ++i)
      bytes[begin + i] = char(1 + i % width);
  }
  EXPECT_TRUE(contents() == Data);
}

TEST_F(TransfersTest, WhatIsCopiedOutStaysWhereItIs) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    // A few words in the middle one, and all of the last.
    const std::vector<int32_t> found = fromWhole(Words + 10, 2 * Words - 10);
    EXPECT_TRUE(
        std::equal(found.begin(), found.end(), Data.begin() + Words + 10));
    for (const Chunk *chunk : Chunks)
      EXPECT_EQ(chunk->copies, copiesAt(place));
    const uint64_t bytes = 4 * MiB - 40;
    EXPECT_EQ(moved(Direction::DeviceToHost, Cause::Copy),
              copiesAt(place).device ? bytes : 0);
    EXPECT_EQ(moved(Direction::FileToHost, Cause::Copy),
              place == At::File ? bytes : 0);
    EXPECT_EQ(moved(Direction::SwapToHost, Cause::Copy),
              place == At::Swap ? bytes : 0);
    end();
  }
}

TEST_F(TransfersTest, WhatIsWrittenIsTheOnlyCopy) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    giveHost();
    ASSERT_OK(toWhole(Words + 5, numbers(10, 3)));
    const Copies now = Chunks[1]->copies;
    EXPECT_FALSE(now.storage);
    EXPECT_NE(now.device, now.host);
    EXPECT_EQ(Chunks[0]->copies, copiesAt(place));
    EXPECT_EQ(Chunks[2]->copies, copiesAt(place));
    end();
  }
}

/// A copy in of what the program only reads: no kernel changes it, so the host
/// keeps it where not all is on the device.
TEST_F(TransfersTest, ACopyInGoesWhereItsContentsWillBeNeeded) {
  const std::vector<int32_t> words = numbers(3 * Words, 8);
  struct {
    uint64_t deviceMemory;
    bool pageable, fillsHost, onHost;
  } cases[] = {{4 * MiB, true, false, true},
               {4 * MiB, false, false, false},  // the device's to copy
               {4 * MiB, true, true, false},    // no room
               {16 * MiB, true, false, false}}; // all is on the device
  for (const auto &one : cases) {
    SCOPED_TRACE(&one - cases);
    settings.deviceMemory = one.deviceMemory;
    ASSERT_NO_FATAL_FAILURE(startParts(3));
    parts->Time.Tracking = true;
    Whole->flags = D_READ;
    if (one.fillsHost)
      fillHost();
    ASSERT_OK(toWhole(0, words, {one.pageable}));
    Data = words;
    EXPECT_EQ(Whole->numOnDevice == 0, one.onHost);
    EXPECT_EQ(moved(Direction::HostToDevice, Cause::Copy) == 0, one.onHost);
    EXPECT_TRUE(contents() == Data);
    end();
  }
}

TEST_F(TransfersTest, ZerosMoveNobody) {
  settings.deviceMemory = 4 * MiB;
  ASSERT_NO_FATAL_FAILURE(startParts(2));
  write(0, numbers(2 * Words, 8));
  Buffer *zeros = makeBuffer(2, "zeros");
  ASSERT_OK(parts->Moves.fill(*zeros, zeros->base, 0, 4, Words + 10, nullptr));
  EXPECT_EQ(zeros->chunks[0].storage.kind(), Stored::Zero);
  EXPECT_EQ(zeros->chunks[0].copies, Copies());
  EXPECT_EQ(zeros->chunks[0].device.id, 0u);
  // A part is written where it can be.
  EXPECT_TRUE(zeros->chunks[1].copies.device);
  EXPECT_EQ(Whole->numOnDevice, 1u);
  // Other values are no zeros.
  ASSERT_OK(parts->Moves.fill(*zeros, zeros->base, 7, 4, Words, nullptr));
  EXPECT_TRUE(zeros->chunks[0].copies.device);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(TransfersTest, ChunksMoveBetweenBuffersThroughWhatThereIs) {
  settings.deviceMemory = 2 * MiB; // one chunk
  ASSERT_NO_FATAL_FAILURE(startParts(Count));
  write(0, numbers(Count * Words, 8));
  Buffer *other = makeOther();
  ASSERT_OK(parts->Moves.between(*Whole, Whole->base + 400, *other,
                                 other->base + 4000, 4 * MiB, nullptr));
  std::copy_n(OtherData.begin() + 1000, 2 * Words, Data.begin() + 100);
  EXPECT_TRUE(contents() == Data);
  EXPECT_EQ(moved(Direction::DeviceToDevice), 0u);
}

/// It needs no more room than the chunk.
TEST_F(TransfersTest, ACopyWithinAChunkIsTheDevices) {
  settings.deviceMemory = 2 * MiB; // one chunk
  ASSERT_NO_FATAL_FAILURE(startParts(Count));
  write(0, numbers(Count * Words, 8));
  ASSERT_FALSE(Chunks[0]->copies.device);
  ASSERT_OK(parts->Moves.between(*Whole, Whole->base, *Whole, Whole->base + MiB,
                                 1000, nullptr));
  std::copy_n(Data.begin() + Words / 2, 250, Data.begin());
  EXPECT_TRUE(contents() == Data);
  EXPECT_EQ(moved(Direction::DeviceToDevice), 1000u);
}

TEST_F(TransfersTest, HostMemoryInABufferIsRefused) {
  ASSERT_NO_FATAL_FAILURE(put(At::Host));
  Buffer *other = makeOther();
  auto *memory = static_cast<char *>(pointer(other->base + 4 * MiB));
  for (const Status &status :
       {parts->Moves.toBuffer(*Whole, Whole->base, memory, 4, nullptr, {}),
        parts->Moves.fromBuffer(*Whole, memory - 8 * MiB, Whole->base, 5 * MiB,
                                nullptr, {})}) {
    EXPECT_EQ(status.code(), DRAGON_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(status.message(), HasSubstr("into buffer 'other' at"));
  }
  EXPECT_TRUE(contents() == Data);
}

/// The n-th call fails, for all n.
TEST_F(TransfersTest, AFailureChangesNothingOutsideOfWhatIsWritten) {
  constexpr size_t Begin = 100, End = 2 * Words + 50;
  const std::vector<int32_t> fresh = numbers(End - Begin, 5);
  const std::function<Status(Buffer &)> works[] = {
      [&](Buffer &) { return toWhole(Begin, fresh); },
      [&](Buffer &) { return fill(Begin, 0, End - Begin); },
      [&](Buffer &other) {
        return parts->Moves.between(*Whole, Whole->base + Begin * 4, other,
                                    other.base + 20, (End - Begin) * 4,
                                    nullptr);
      },
      [&](Buffer &) {
        std::vector<int32_t> found(End - Begin);
        return parts->Moves.fromBuffer(
            *Whole, reinterpret_cast<char *>(found.data()), Whole->base,
            found.size() * 4, nullptr, {/*pageable=*/true});
      }};
  for (const auto &work : works)
    for (At place : Places) {
      bool failed = true;
      for (uint64_t n = 1; failed; ++n) {
        SCOPED_TRACE(testing::Message() << "work " << &work - works << ", at "
                                        << int(place) << ", call " << n);
        ASSERT_NO_FATAL_FAILURE(put(place));
        giveHost();
        Buffer *other = makeOther();
        Faulty->failAt(n);
        const Status status = work(*other);
        failed = Faulty->hasFailed();
        Faulty->failAt(NeverAgain);
        EXPECT_TRUE(failed || status.ok()) << status.message();
        const std::vector<int32_t> found = contents();
        const bool writes = &work != &works[3];
        ASSERT_TRUE(std::equal(found.begin(),
                               writes ? found.begin() + Begin : found.end(),
                               Data.begin()));
        ASSERT_TRUE(
            std::equal(found.begin() + End, found.end(), Data.begin() + End));
        end();
      }
    }
}

TEST_F(TransfersTest, WhoForeseesIsToldWhatIsOverwritten) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  Buffer *other = makeOther();
  struct Told final : NextUsePredictor {
    Forecast nextUseOf(Chunk &) override { return {}; }
    void overwritten(uintptr_t begin, uintptr_t end) override {
      ranges.push_back({begin, end});
    }
    std::vector<AddressRange> ranges;
  } told;
  Transfers moves(parts->Ctx, parts->Time, parts->Space, parts->Slabs,
                  parts->Store, parts->Data, parts->OnDevice, parts->Resident,
                  told);
  const uintptr_t base = Whole->base;
  char bytes[12] = {};
  ASSERT_OK(moves.toBuffer(*Whole, base + 4, bytes, 12, nullptr, {true}));
  ASSERT_OK(moves.fromBuffer(*Whole, bytes, base + 8, 12, nullptr, {true}));
  ASSERT_OK(moves.fill(*Whole, base + 16, 1, 2, 10, nullptr));
  ASSERT_OK(moves.between(*Whole, base + 40, *other, other->base, 8, nullptr));
  EXPECT_EQ(told.ranges, (std::vector<AddressRange>{{base + 4, base + 16},
                                                    {base + 16, base + 36},
                                                    {base + 40, base + 48}}));
}

class LateTransfersTest : public LatePlacesFixture {
protected:
  void SetUp() override {
    LatePlacesFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(put(At::Host));
    makeQueue();
    auto slab = parts->Ctx.device->create(Place::Pinned, 2 * MiB);
    ASSERT_TRUE(slab.ok());
    Pinned = *slab;
    std::fill_n(words(), Words, 1);
  }
  void TearDown() override {
    ASSERT_OK(parts->Time.synchronizeAll());
    ASSERT_OK(parts->Ctx.device->destroy(Pinned));
    LatePlacesFixture::TearDown();
  }
  int32_t *words() { return static_cast<int32_t *>(Pinned.hostView); }
  char *bytes() { return static_cast<char *>(Pinned.hostView); }

  Physical Pinned; ///< the program's
};

TEST_F(LateTransfersTest, CopiesComeInTheOrderOfTheirQueue) {
  // It is on its way to the device for other work.
  const ChunkUse use = useOfAll(*Chunks[0], LaunchNeed::Read);
  parts->Ctx.pins.next();
  ASSERT_OK(parts->Resident.startBringingIn({&use, 1}, Cause::Prefetch));
  ASSERT_OK(parts->Moves.fromBuffer(*Whole, bytes(), Whole->base, 2 * MiB,
                                    Program, {/*pageable=*/false}));
  EXPECT_EQ(words()[0], 1); // put off
  ASSERT_OK(parts->Ctx.device->synchronize(Program));
  EXPECT_EQ(std::vector<int32_t>(words(), words() + Words),
            expectedIn(*Chunks[0]));
  // What comes later in the queue changes nothing.
  std::fill_n(words(), Words, 5);
  ASSERT_OK(parts->Moves.toBuffer(*Whole, Whole->base, bytes(), 2 * MiB,
                                  Program, {/*pageable=*/false}));
  ASSERT_OK(parts->Moves.fill(*Whole, Whole->base, 6, 4, 10, Program));
  std::fill_n(Data.begin(), Words, 5);
  std::fill_n(Data.begin(), 10, 6);
  ASSERT_OK(parts->Ctx.device->synchronize(Program));
  EXPECT_TRUE(contents() == Data);
}

/// The processor makes the copy: not before what is queued has come.
TEST_F(LateTransfersTest, TheProcessorWaitsForTheQueue) {
  fillHost();
  auto queueCopyTo = [&](void *to, const void *from) {
    return parts->Ctx.device->copy(to, from, 2 * MiB, CopyKind::HostToHost,
                                   Program);
  };
  auto second = parts->Ctx.device->create(Place::Pinned, 2 * MiB);
  ASSERT_TRUE(second.ok());
  std::fill_n(static_cast<int32_t *>(second->hostView), Words, 9);
  ASSERT_OK(queueCopyTo(bytes(), second->hostView));
  const HostSide side{/*pageable=*/true, /*mayBePinned=*/true};
  Whole->flags = D_READ;
  parts->Space.LiveBytes += 64 * MiB; // out of core: to host memory
  ASSERT_OK(parts->Moves.toBuffer(*Whole, Whole->base, bytes(), 2 * MiB,
                                  Program, side));
  parts->Space.LiveBytes -= 64 * MiB;
  EXPECT_TRUE(Chunks[0]->copies.host);
  std::fill_n(Data.begin(), Words, 9);
  EXPECT_TRUE(contents() == Data);
  // And out of host memory: the queue reads it before.
  ASSERT_OK(queueCopyTo(second->hostView, bytes()));
  ASSERT_OK(parts->Moves.fromBuffer(*Whole, bytes(), Whole->base + 2 * MiB,
                                    2 * MiB, Program, side));
  ASSERT_OK(parts->Ctx.device->synchronize(Program));
  EXPECT_EQ(static_cast<int32_t *>(second->hostView)[7], 9);
  EXPECT_EQ(std::vector<int32_t>(words(), words() + Words),
            expectedIn(*Chunks[1]));
  ASSERT_OK(parts->Ctx.device->destroy(*second));
  giveHost();
}

} // namespace
