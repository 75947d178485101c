//===- AllocatorTest.cpp - allocating and freeing buffers -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Allocator.h"
#include "runtime/base/HostRanges.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/PlacesFixture.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Knows what it was told of addresses; a kind of calls fails when the test
/// says so.
class WatchedDevice final : public ForwardingDevice {
public:
  WatchedDevice(std::unique_ptr<Device> inner, bool migrates)
      : ForwardingDevice(std::move(inner)) {
    Caps.migrates = migrates;
  }

  std::vector<std::pair<AddressRange, Advice>> Advised;
  std::set<uintptr_t> Reserved;
  std::optional<DeviceCall> Failing;
  dragon_error Code = DRAGON_ERROR_DEVICE;

private:
  Status before(DeviceCall call) override {
    return Failing == call ? Status::error(Code, "failed") : Status();
  }
  StatusOr<uintptr_t> reserveImpl(size_t bytes) override {
    DRAGON_ASSIGN(const uintptr_t base, inner().reserve(bytes));
    Reserved.insert(base);
    return base;
  }
  Status releaseImpl(uintptr_t base, size_t bytes) override {
    DRAGON_TRY(before(DeviceCall::Release));
    EXPECT_EQ(Reserved.erase(base), 1u);
    return inner().release(base, bytes);
  }
  Status adviseImpl(const AddressRange &range, Advice advice) override {
    Advised.push_back({range, advice});
    return Status::error(DRAGON_ERROR_UNSUPPORTED, "it takes no hints");
  }
};

class AllocatorTest : public PlacesFixture {
protected:
  /// Without the buffer that the others begin with.
  void start() {
    ASSERT_NO_FATAL_FAILURE(startParts(1));
    ASSERT_OK(free(*Whole));
    Watched->Advised.clear();
    Granularity = parts->Ctx.caps().granularity;
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto watched = std::make_unique<WatchedDevice>(std::move(cpu), Migrates);
    Watched = watched.get();
    return watched;
  }
  void expectNothingLeft() {
    EXPECT_TRUE(parts->Space.Buffers.empty());
    EXPECT_TRUE(parts->Space.Allocations.all().empty());
    EXPECT_EQ(parts->Space.LiveBytes, 0u);
    EXPECT_EQ(parts->OnDevice.Pool.used(), 0u);
    EXPECT_EQ(parts->Slabs.Pool.used(), 0u);
    EXPECT_TRUE(parts->OnDevice.Chunks.empty());
    EXPECT_TRUE(parts->Slabs.Chunks.empty());
    EXPECT_TRUE(Watched->Reserved.empty());
  }

  bool Migrates = false;
  WatchedDevice *Watched = nullptr;
  size_t Granularity = 0;
};

TEST_F(AllocatorTest, BuffersThatDataMayChooseFromAreInSmallerChunks) {
  ASSERT_NO_FATAL_FAILURE(start());
  parts->Ctx.limits.chunkBytes = 8 * MiB;
  parts->Ctx.limits.byDataChunkBytes = 4 * MiB;
  const uint64_t most = parts->Ctx.limits.deviceBytes;
  AllocateOptions options;
  for (const bool byData : {false, true})
    for (const uint64_t bytes : {most, most + 2 * MiB}) {
      options.byData = byData;
      const uintptr_t base = allocate(bytes, options);
      EXPECT_EQ(bufferAt(base).chunkBytes,
                byData && bytes > most ? 4 * MiB : 8 * MiB);
      // Host memory is made ahead in such pieces.
      EXPECT_EQ(parts->OnDevice.usualChunkBytes(), bufferAt(base).chunkBytes);
      ASSERT_OK(freeAt(base));
    }
}

TEST_F(AllocatorTest, SomeSizesAreRefused) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(parts->Alloc.allocate(0, {}).takeStatus().code(),
            DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(
      parts->Alloc.allocate((size_t(1) << 46) + 1, {}).takeStatus().code(),
      DRAGON_ERROR_OUT_OF_MEMORY);
  expectNothingLeft();
}

TEST_F(AllocatorTest, ALargeAllocationIsABufferOfItsOwn) {
  ASSERT_NO_FATAL_FAILURE(start());
  dragon_source where{};
  where.buffer = "d_A";
  const uintptr_t base =
      allocate(5 * MiB + 12, {D_READ, /*hostAccessible=*/false, &where});
  const Allocation &made = allocationAt(base + 5 * MiB);
  EXPECT_EQ(made.base, base);
  EXPECT_EQ(made.bytes, 5 * MiB + 12);
  EXPECT_EQ(made.flags, unsigned(D_READ));
  EXPECT_EQ(made.name, "d_A");
  EXPECT_EQ(parts->Space.Allocations.find(base + 5 * MiB + 12), nullptr);
  const Buffer &buffer = *made.buffer;
  EXPECT_EQ(buffer.bytes, 5 * MiB + 12);
  EXPECT_EQ(buffer.vaBytes, 6 * MiB);
  EXPECT_EQ(buffer.chunks.size(), 3u);
  EXPECT_EQ(buffer.flags, unsigned(D_READ));
  EXPECT_FALSE(buffer.arena);
  EXPECT_EQ(parts->Space.LiveBytes, 6 * MiB);
  EXPECT_NE(buffer.number, bufferAt(allocate(2 * MiB)).number);
}

TEST_F(AllocatorTest, WhatFitsIsMappedAtOnce) {
  settings.deviceMemory = 8 * MiB;
  ASSERT_NO_FATAL_FAILURE(start());
  AllocateOptions shared;
  shared.hostAccessible = true; // the host touches it first as often as not
  EXPECT_EQ(bufferAt(allocate(4 * MiB, shared)).chunks[0].device.id, 0u);
  const Buffer &fits = bufferAt(allocate(6 * MiB));
  const Buffer &over = bufferAt(allocate(4 * MiB));
  for (const Chunk &chunk : fits.chunks) {
    EXPECT_NE(chunk.device.id, 0u);
    EXPECT_EQ(chunk.copies, Copies()); // it holds nothing
  }
  for (const Chunk &chunk : over.chunks)
    EXPECT_EQ(chunk.device.id, 0u);
}

TEST_F(AllocatorTest, WhereTheDeviceHasLessTheRestIsMappedLater) {
  ASSERT_NO_FATAL_FAILURE(start());
  parts->OnDevice.Pool.trim();
  Watched->Failing = DeviceCall::Create;
  Watched->Code = DRAGON_ERROR_OUT_OF_MEMORY;
  const uintptr_t base = allocate(4 * MiB);
  EXPECT_EQ(bufferAt(base).chunks[0].device.id, 0u);
  ASSERT_OK(freeAt(base));
  Watched->Code = DRAGON_ERROR_DEVICE; // that is no shortage
  EXPECT_EQ(parts->Alloc.allocate(4 * MiB, {}).takeStatus().code(),
            DRAGON_ERROR_DEVICE);
  expectNothingLeft();
}

TEST_F(AllocatorTest, SmallAllocationsShareChunks) {
  settings.strict = false;
  ASSERT_NO_FATAL_FAILURE(start());
  std::vector<std::pair<uintptr_t, size_t>> made;
  for (size_t bytes : {1, 100, 4096, 511, 512, 513})
    made.push_back({allocate(bytes), bytes});
  EXPECT_EQ(parts->Space.Buffers.size(), 1u);
  std::sort(made.begin(), made.end());
  for (size_t i = 0; i < made.size(); ++i) {
    const auto [base, bytes] = made[i];
    EXPECT_EQ(base % 512, 0u);
    EXPECT_TRUE(bufferAt(base).arena);
    if (i)
      EXPECT_LT(made[i - 1].first + made[i - 1].second, base); // a gap
    EXPECT_EQ(allocationAt(base).bytes, bytes);
  }
  // Others do not.
  EXPECT_FALSE(bufferAt(allocate(Granularity / 8 + 1)).arena);
  EXPECT_TRUE(bufferAt(allocate(Granularity / 8)).arena);
  // One arena after the other.
  while (parts->Space.Buffers.size() < 3)
    made.push_back({allocate(Granularity / 8), Granularity / 8});
  const std::map<uintptr_t, Allocation> all = parts->Space.Allocations.all();
  for (const auto &[base, allocation] : all)
    ASSERT_OK(freeAt(base));
  expectNothingLeft();
}

TEST_F(AllocatorTest, BuffersAreApartOnStrictDevices) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_NE(&bufferAt(allocate(100)), &bufferAt(allocate(100)));
}

/// Each moves alone, while there are few.
TEST_F(AllocatorTest, OfSmallAllocationsForTheHostTheFirstAreApart) {
  settings.strict = false;
  ASSERT_NO_FATAL_FAILURE(start());
  AllocateOptions shared;
  shared.hostAccessible = true;
  std::set<Buffer *> apart;
  for (int i = 0; i < 4; ++i) {
    Buffer &buffer = bufferAt(allocate(100, shared));
    EXPECT_FALSE(buffer.arena);
    apart.insert(&buffer);
  }
  EXPECT_EQ(apart.size(), 4u);
  Buffer &arena = bufferAt(allocate(100, shared));
  EXPECT_TRUE(arena.arena && arena.hostAccessible);
  EXPECT_EQ(&bufferAt(allocate(100, shared)), &arena);
  // Not with those that the host does not touch.
  EXPECT_NE(&bufferAt(allocate(100)), &arena);
  shared.flags = D_READ;
  EXPECT_FALSE(bufferAt(allocate(100, shared)).arena);
}

TEST_F(AllocatorTest, WhatTheOneBeforeLeftIsPoison) {
  settings.strict = false;
  ASSERT_NO_FATAL_FAILURE(start());
  allocate(100); // the arena stays
  const uintptr_t first = allocate(400);
  const std::vector<int32_t> words = numbers(100, 6);
  Buffer &arena = bufferAt(first);
  ASSERT_OK(parts->Moves.toBuffer(arena, first,
                                  reinterpret_cast<const char *>(words.data()),
                                  400, nullptr, {/*pageable=*/true}));
  ASSERT_OK(freeAt(first));
  ASSERT_EQ(allocate(400), first);
  std::vector<int32_t> found(100);
  ASSERT_OK(parts->Moves.fromBuffer(arena,
                                    reinterpret_cast<char *>(found.data()),
                                    first, 400, nullptr, {/*pageable=*/true}));
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NE(found[i], words[i]);
}

TEST_F(AllocatorTest, AFreedBufferLeavesNothingBehind) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    giveHost();
    if (place == At::File)
      ASSERT_OK(parts->Reads.start(Chunks)); // is under way
    ASSERT_OK(freeAt(Whole->base));
    expectNothingLeft();
    EXPECT_EQ(parts->Reads.bytes(), 0u);
    end();
  }
}

TEST_F(AllocatorTest, SwapOfAFreedBufferIsForOthers) {
  ASSERT_NO_FATAL_FAILURE(put(At::Swap));
  giveHost();
  std::set<std::pair<BackingFile *, int64_t>> held, found;
  for (const Chunk *chunk : Chunks)
    held.insert({chunk->slot.file, chunk->slot.offset});
  ASSERT_OK(freeAt(Whole->base));
  for (size_t i = 0; i < Count; ++i) {
    auto slot = parts->Store.Swap->allocate(2 * MiB);
    ASSERT_TRUE(slot.ok());
    found.insert({slot->file, slot->offset});
  }
  EXPECT_EQ(found, held);
}

/// The program will not ask again.
TEST_F(AllocatorTest, AFailureToFreeIsToldAndTheBooksAreRight) {
  for (DeviceCall call : {DeviceCall::Unmap, DeviceCall::Release}) {
    ASSERT_NO_FATAL_FAILURE(put(At::Both));
    Watched->Failing = call;
    EXPECT_EQ(freeAt(Whole->base).code(), DRAGON_ERROR_DEVICE);
    Watched->Failing.reset();
    EXPECT_TRUE(parts->Space.Buffers.empty());
    EXPECT_TRUE(parts->Space.Allocations.all().empty());
    EXPECT_EQ(parts->Space.LiveBytes, 0u);
    EXPECT_TRUE(parts->OnDevice.Chunks.empty());
    EXPECT_TRUE(parts->Slabs.Chunks.empty());
    end();
  }
}

TEST_F(AllocatorTest, SinksEndWithTheirBuffer) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  std::vector<Buffer *> ended;
  parts->Alloc.setEndSinks([&](Buffer &buffer) {
    ended.push_back(&buffer);
    return Status::error(DRAGON_ERROR_FILE, "cannot cut the file");
  });
  EXPECT_EQ(freeAt(Whole->base).code(), DRAGON_ERROR_FILE);
  EXPECT_EQ(ended, std::vector<Buffer *>{Whole});
  expectNothingLeft();
}

TEST_F(AllocatorTest, WhereTheHostMayFaultIsKnown) {
  ASSERT_NO_FATAL_FAILURE(start());
  AllocateOptions shared;
  shared.hostAccessible = true;
  const uintptr_t base = allocate(4 * MiB, shared), other = allocate(4 * MiB);
  EXPECT_TRUE(HostRanges::overlaps(pointer(base + 3 * MiB), 1));
  EXPECT_FALSE(HostRanges::overlaps(pointer(other), 4 * MiB));
  ASSERT_OK(freeAt(base));
  EXPECT_FALSE(HostRanges::overlaps(pointer(base), 4 * MiB));
}

/// So that the new one finds room.
TEST_F(AllocatorTest, WhatIsDeadIsForgottenWhenNotAllFits) {
  settings.deviceMemory = 8 * MiB;
  ASSERT_NO_FATAL_FAILURE(startParts(3));
  write(0, numbers(3 * Words, 2));
  parts->Data.forgetLater(*Chunks[0], ++parts->Ctx.clock);
  allocate(2 * MiB);
  EXPECT_TRUE(Chunks[0]->copies.device);
  allocate(2 * MiB);
  EXPECT_EQ(Chunks[0]->copies, Copies());
}

TEST_F(AllocatorTest, WhatTheHostTouchesIsTheDriversWhereItMigrates) {
  Migrates = true;
  ASSERT_NO_FATAL_FAILURE(start());
  AllocateOptions shared;
  shared.hostAccessible = true;
  const uintptr_t base = allocate(4 * MiB, shared);
  EXPECT_TRUE(bufferAt(base).driverMoved && bufferAt(base).kept);
  EXPECT_EQ(parts->Space.NumDriverMoved, 1u);
  EXPECT_EQ(parts->Space.LiveBytes, 0u);
  EXPECT_FALSE(HostRanges::overlaps(pointer(base), 4 * MiB));
  EXPECT_FALSE(bufferAt(allocate(4 * MiB)).driverMoved);
  ASSERT_OK(freeAt(base));
  EXPECT_EQ(parts->Space.NumDriverMoved, 0u);
  EXPECT_EQ(parts->Space.LiveBytes, 4 * MiB);
}

/// A hint: nothing is wrong without it.
TEST_F(AllocatorTest, TheDriverIsToldWhereBuffersBelong) {
  Migrates = true;
  ASSERT_NO_FATAL_FAILURE(start());
  const uintptr_t changed = allocate(4 * MiB);
  const uintptr_t read = allocate(3 * MiB, {D_READ, false, nullptr});
  ASSERT_EQ(Watched->Advised.size(), 2u);
  EXPECT_EQ(Watched->Advised[0],
            std::pair(AddressRange{changed, changed + 4 * MiB},
                      Advice::PreferDevice));
  EXPECT_EQ(Watched->Advised[1],
            std::pair(AddressRange{read, read + 4 * MiB}, Advice::ReadMostly));
}

} // namespace
