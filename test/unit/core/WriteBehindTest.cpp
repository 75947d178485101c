//===- WriteBehindTest.cpp - writes of evicted contents -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/WriteBehind.h"
#include "runtime/tier/BackgroundIo.h"
#include "runtime/tier/Transfer.h"
#include "test/unit/support/core/ImplFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <iterator>
#include <mutex>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Writes end when they may, and as they are told.
class Gate final : public IoFaults {
public:
  void setOpen(bool value) {
    std::lock_guard<std::mutex> guard(Lock);
    Open = value;
    Changed.notify_all();
  }
  /// A write is under way.
  void waitForWrite() {
    std::unique_lock<std::mutex> guard(Lock);
    Changed.wait(guard, [this] { return Held > 0; });
  }
  /// So many writes fail.
  void fail(int code, unsigned times = UINT_MAX) {
    std::lock_guard<std::mutex> guard(Lock);
    Code = code;
    Times = times;
  }
  long filter(const TransferPart &segment, long result) override {
    std::unique_lock<std::mutex> guard(Lock);
    if (!segment.write)
      return result;
    ++Held;
    Changed.notify_all();
    Changed.wait(guard, [this] { return Open; });
    --Held;
    if (!Code || !Times)
      return result;
    --Times;
    return -long(Code);
  }

private:
  std::mutex Lock;
  std::condition_variable Changed;
  bool Open = true;
  unsigned Held = 0;
  int Code = 0;
  unsigned Times = 0;
};

/// The parts of a runtime, with dirty contents on the device: 4 chunks of it,
/// of 8 MiB of device memory.
class WriteBehindTest : public ImplFixture {
protected:
  static constexpr size_t Words = 2 * MiB / 4; ///< of a chunk
  static constexpr size_t Count = 4;

  void start(uint64_t hostMemory) {
    settings.hostMemory = hostMemory;
    settings.deviceMemory = Count * 2 * MiB;
    ASSERT_NO_FATAL_FAILURE(startImpl(Count));
    impl->Store.Background.reset();
    auto files = createFileTier(settings, impl->Ctx.ledger, &gate);
    ASSERT_TRUE(files.ok());
    impl->Store.Files = std::move(*files);
    impl->Store.Background =
        std::make_unique<BackgroundIo>(*impl->Store.Files, 2 * MiB);
    impl->Time.Tracking = true;
    Data = numbers(Count * Words, 9);
    write(0, Data);
    for (const Chunk *chunk : Chunks)
      ASSERT_TRUE(chunk->copies.device);
    fillHost();
  }
  void TearDown() override {
    gate.setOpen(true);
    ImplFixture::TearDown();
  }
  /// Others hold all of host memory but for what is kept for transit.
  void fillHost() {
    const uint64_t transit = impl->Ctx.limits.transitBytes;
    while (impl->Slabs.Pool.hasRoom(2 * MiB, transit)) {
      auto slab = impl->Slabs.Pool.take(2 * MiB, transit);
      ASSERT_TRUE(slab.ok());
      Others.push_back(*slab);
    }
  }
  void giveHost() {
    for (const Physical &slab : Others)
      impl->Slabs.Pool.give(slab);
    Others.clear();
  }
  void write(size_t at, const std::vector<int32_t> &data) {
    impl->Ctx.pins.next();
    ASSERT_OK(impl->Moves.toBuffer(*Whole, Whole->base + at * 4,
                                   reinterpret_cast<const char *>(data.data()),
                                   data.size() * 4, nullptr,
                                   {/*pageable=*/true}));
    std::copy(data.begin(), data.end(), Data.begin() + long(at));
  }
  /// Those that are on the device.
  Status evict(size_t first, size_t count) {
    std::vector<Chunk *> victims;
    std::copy_if(Chunks.begin() + long(first),
                 Chunks.begin() + long(first + count),
                 std::back_inserter(victims),
                 [](const Chunk *chunk) { return chunk->device.id != 0; });
    impl->Ctx.pins.next();
    return impl->OnDevice.evict(victims, Cause::Eviction);
  }
  std::vector<int32_t> contents() {
    std::vector<int32_t> result(Data.size());
    EXPECT_OK(impl->Moves.fromBuffer(
        *Whole, reinterpret_cast<char *>(result.data()), Whole->base,
        Whole->bytes, nullptr, {/*pageable=*/false}));
    return result;
  }
  uint64_t swapped() { return impl->Ctx.ledger.bytes(Direction::HostToSwap); }

  Gate gate;
  std::vector<Physical> Others;
  std::vector<int32_t> Data;
};

TEST_F(WriteBehindTest, NobodyWaitsForTheDisk) {
  start(32 * MiB); // 8 MiB of transit memory: 4 for writes
  gate.setOpen(false);
  ASSERT_OK(evict(0, 2)); // or this would not return
  gate.waitForWrite();
  EXPECT_EQ(impl->Writes.bytes(), 4 * MiB);
  EXPECT_EQ(impl->Writes.writings().size(), 2u);
  for (size_t i : {0, 1}) {
    EXPECT_FALSE(Chunks[i]->device.id);
    EXPECT_TRUE(Chunks[i]->copies.host);
    EXPECT_FALSE(Chunks[i]->copies.storage);
  }
  EXPECT_EQ(swapped(), 0u);
  EXPECT_TRUE(contents() == Data); // from the host copies
  gate.setOpen(true);
  ASSERT_OK(impl->Writes.finishAll());
  EXPECT_EQ(impl->Writes.bytes(), 0u);
  EXPECT_EQ(swapped(), 4 * MiB);
  for (size_t i : {0, 1}) {
    EXPECT_FALSE(Chunks[i]->host.id);
    EXPECT_TRUE(Chunks[i]->copies.storage);
  }
  EXPECT_EQ(impl->Slabs.Pool.used(), Others.size() * 2 * MiB);
  EXPECT_TRUE(contents() == Data); // from swap
  giveHost();
}

TEST_F(WriteBehindTest, NoMoreAreUnderWayThanHalfOfTransitMemory) {
  start(32 * MiB);
  ASSERT_OK(evict(0, 4));
  EXPECT_LE(impl->Writes.bytes(), 4 * MiB);
  EXPECT_EQ(impl->OnDevice.Pool.used(), 0u);
  EXPECT_LE(impl->Slabs.Pool.most(), 32 * MiB);
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, WhatIsNeededAgainComesFromTheHostCopy) {
  start(32 * MiB);
  gate.setOpen(false);
  ASSERT_OK(evict(0, 1));
  gate.waitForWrite();
  const ChunkUse use = useOfAll(*Chunks[0], LaunchNeed::Read);
  impl->Ctx.pins.next();
  ASSERT_OK(impl->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
  EXPECT_TRUE(Chunks[0]->copies.device);
  EXPECT_EQ(impl->Ctx.ledger.bytes(Direction::SwapToHost), 0u);
  gate.setOpen(true);
  // Pinned in this round: it keeps its host copy.
  ASSERT_OK(impl->Writes.finishAll());
  EXPECT_TRUE(Chunks[0]->copies.host);
  EXPECT_TRUE(Chunks[0]->copies.storage);
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, WhatChangesIsNotTakenForWritten) {
  start(32 * MiB);
  for (bool discards : {false, true}) {
    ASSERT_OK(evict(0, 2));
    const ChunkUse use = useOfAll(*Chunks[0], LaunchNeed::Write);
    impl->Ctx.pins.next();
    ASSERT_OK(impl->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
    write(5, numbers(100, discards ? 3 : 4));
    if (discards) {
      ASSERT_OK(
          impl->Discarded.range(Chunks[1]->va(), Chunks[1]->used(), nullptr));
      EXPECT_FALSE(Chunks[1]->transit.writing);
    }
    write(Words, numbers(Words, discards ? 5 : 6));
    EXPECT_FALSE(Chunks[0]->transit.writing);
    EXPECT_FALSE(Chunks[0]->copies.storage);
    ASSERT_OK(impl->Writes.finishAll());
    EXPECT_TRUE(contents() == Data);
  }
  for (Chunk *chunk : Chunks) {
    const ChunkUse use = useOfAll(*chunk, LaunchNeed::Read);
    impl->Ctx.pins.next();
    ASSERT_OK(impl->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
  }
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, OnAFullDiskContentsStayInHostMemory) {
  start(32 * MiB);
  gate.fail(ENOSPC);
  ASSERT_OK(evict(0, 2));
  EXPECT_EQ(impl->Writes.finishAll().code(), DRAGON_ERROR_NO_SPACE);
  for (size_t i : {0, 1}) {
    EXPECT_TRUE(Chunks[i]->copies.host);
    EXPECT_FALSE(Chunks[i]->copies.storage);
    EXPECT_FALSE(Chunks[i]->slot.bytes);
  }
  EXPECT_TRUE(contents() == Data);
  // There is less memory for transit, until others give some; then who needs
  // more is told.
  Status last;
  for (size_t i = 2; i < Count && last.ok(); ++i)
    last = evict(i, 1);
  if (last.ok())
    last = impl->Host.makeRoom(8 * MiB, true);
  EXPECT_EQ(last.code(), DRAGON_ERROR_NO_SPACE) << last.message();
  EXPECT_TRUE(contents() == Data);
  gate.fail(0);
  ASSERT_OK(evict(2, 2));
  ASSERT_OK(impl->Host.makeRoom(8 * MiB, true));
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, WhatCannotGoToItsFileGoesToSwap) {
  start(32 * MiB);
  auto out = open("out", true);
  ASSERT_OK(impl->Announced.set(Whole->base, Whole->bytes, out, 0, false));
  gate.fail(ENOSPC, 1);
  ASSERT_OK(evict(0, 1));
  ASSERT_OK(impl->Writes.finishAll());
  EXPECT_EQ(impl->Ctx.ledger.bytes(Direction::HostToFile), 0u);
  EXPECT_EQ(swapped(), 2 * MiB);
  EXPECT_TRUE(Chunks[0]->copies.storage);
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, WhoTakesTheFileWaitsForTheWrites) {
  start(32 * MiB);
  auto out = open("out", true);
  ASSERT_OK(impl->Announced.set(Whole->base, Whole->bytes, out, 0, false));
  ASSERT_OK(evict(0, 2));
  // The program writes the file by other means.
  ASSERT_OK(impl->Announced.detach(out->deviceId(), out->inode(), 0, INT64_MAX,
                                   nullptr, 0));
  for (const Writing &writing : impl->Writes.writings())
    EXPECT_NE(writing.plan.piece.file, out);
  writeFile("out", numbers(Data.size(), 1));
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, WritingTheFileTakesWhatIsOnItsWay) {
  start(32 * MiB);
  auto out = open("out", true);
  ASSERT_OK(impl->Announced.set(Whole->base, Whole->bytes, out, 0, false));
  ASSERT_OK(evict(0, 2));
  size_t written = 0;
  ASSERT_OK(impl->Out.write(Whole->base, Whole->bytes, out, 0, written));
  EXPECT_EQ(written, Whole->bytes);
  EXPECT_TRUE(readFile("out") == Data);
  // Each byte once.
  EXPECT_EQ(impl->Ctx.ledger.bytes(Direction::HostToFile), Whole->bytes);
  EXPECT_EQ(swapped(), 0u);
  giveHost();
}

TEST_F(WriteBehindTest, TheBufferEndsMeanwhile) {
  start(32 * MiB);
  gate.setOpen(false);
  ASSERT_OK(evict(0, 2));
  gate.waitForWrite();
  gate.setOpen(true);
  ASSERT_OK(impl->free(Whole->base));
  EXPECT_TRUE(impl->Writes.writings().empty());
  EXPECT_EQ(impl->Writes.bytes(), 0u);
  EXPECT_EQ(impl->Slabs.Pool.used(), Others.size() * 2 * MiB);
  giveHost();
}

TEST_F(WriteBehindTest, HostCopiesAreWrittenSeveralAtATime) {
  start(32 * MiB);
  giveHost();
  // To the host, then there is no room for others.
  for (Chunk *chunk : Chunks) {
    impl->Ctx.pins.next();
    ASSERT_OK(impl->Resident.bringToHost(*chunk, LaunchNeed::Write,
                                         Cause::HostAccess));
    ASSERT_OK(impl->Data.wroteHost(*chunk));
    ASSERT_OK(impl->OnDevice.release(*chunk));
  }
  fillHost();
  gate.setOpen(false);
  impl->Ctx.pins.next();
  // Lent of what is kept for transit, there is room when the writes begin.
  ASSERT_OK(impl->Host.makeRoom(4 * MiB, false));
  gate.waitForWrite();
  EXPECT_EQ(impl->Writes.writings().size(), 2u);
  EXPECT_TRUE(impl->Slabs.Pool.hasRoom(4 * MiB, impl->Ctx.limits.transitBytes));
  EXPECT_TRUE(contents() == Data);
  gate.setOpen(true);
  ASSERT_OK(impl->Writes.finishAll());
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

/// A device that does nothing before it is waited for; little of everything.
TEST_F(WriteBehindTest, NothingIsLostOnAnAsynchronousDevice) {
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 24 * MiB;
  settings.poison = settings.strict = false;
  std::string notes;
  auto inner = createDevice(settings, notes);
  ASSERT_TRUE(inner.ok());
  auto late = std::make_unique<LateDevice>(std::move(*inner));
  const LateDevice &watched = *late;
  RuntimeFixture::start(std::move(late));
  constexpr int N = 4 << 20; // 16 MiB each
  std::vector<uintptr_t> arrays;
  for (uint32_t i = 0; i < 4; ++i) {
    arrays.push_back(allocate(N * 4));
    ASSERT_OK(upload(arrays[i], numbers(N, i)));
  }
  for (int round = 0; round < 3; ++round)
    for (uintptr_t array : arrays)
      ASSERT_OK(
          kernels.launch(*runtime, "scale", N, pointer(array), N, round + 2));
  for (uint32_t i = 0; i < 4; ++i) {
    auto expected = numbers(N, i);
    for (int round = 0; round < 3; ++round)
      for (int32_t &value : expected)
        value = scaled(value, round + 2);
    EXPECT_TRUE(download(arrays[i], N) == expected) << i;
  }
  EXPECT_GT(moved(Direction::HostToSwap), 0u);
  EXPECT_EQ(watched.misused(), 0u);
  for (uintptr_t array : arrays)
    EXPECT_OK(runtime->buffers().free(array));
  runtime.reset();
}

} // namespace
