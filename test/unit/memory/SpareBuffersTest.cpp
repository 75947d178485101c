//===- SpareBuffersTest.cpp - freed buffers for the next of their size ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/SpareBuffers.h"
#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <algorithm>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Counts what a driver takes long for.
class MappingDevice final : public LateDevice {
public:
  using LateDevice::LateDevice;
  unsigned Maps = 0;

private:
  Status mapImpl(uintptr_t va, const Physical &physical) override {
    ++Maps;
    return inner().map(va, physical);
  }
};

class SpareBuffersTest : public MemoryFixture {
protected:
  /// Of 16 MiB.
  void start() {
    settings.deviceMemory = 16 * MiB;
    settings.strict = false;
    settings.poison = false;
    ASSERT_NO_FATAL_FAILURE(startParts(1));
    ASSERT_OK(free(*Whole));
    for (Queue &queue : Queues) {
      auto made = parts->Ctx.device->createQueue(Device::NonBlocking, 0);
      ASSERT_TRUE(made.ok());
      queue = *made;
    }
  }
  void TearDown() override {
    if (parts)
      for (Queue queue : Queues)
        if (queue)
          parts->Ctx.device->destroyQueue(queue).ignore();
    MemoryFixture::TearDown();
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto late = std::make_unique<MappingDevice>(std::move(cpu));
    Late = late.get();
    return late;
  }

  static AllocateOptions in(QueueOrder order) {
    AllocateOptions options;
    options.order = order;
    return options;
  }
  /// Queues a fill of the buffer, as the runtime would.
  void use(uintptr_t base, Queue queue, uint32_t value = 1) {
    Buffer &buffer = bufferAt(base);
    ASSERT_OK(parts->Ctx.device->fill(pointer(base), value, 4,
                                      allocationAt(base).bytes / 4, queue));
    std::vector<Chunk *> chunks;
    chunks.reserve(buffer.chunks.size());
    for (Chunk &chunk : buffer.chunks)
      chunks.push_back(&chunk);
    ASSERT_OK(parts->Time.noteUse(chunks, queue));
  }
  int32_t wordAt(uintptr_t base) { return *reinterpret_cast<int32_t *>(base); }
  MappingDevice *Late = nullptr;
  Queue Queues[2] = {};
};

TEST_F(SpareBuffersTest, TheNextOfTheSizeGetsAddressesAndMemory) {
  ASSERT_NO_FATAL_FAILURE(start());
  const uintptr_t base = allocate(6 * MiB);
  const uint64_t number = bufferAt(base).number;
  ASSERT_OK(freeAt(base));
  EXPECT_EQ(parts->OnDevice.Pool.used(), 0u);
  EXPECT_TRUE(parts->OnDevice.Chunks.empty());
  EXPECT_EQ(parts->Space.LiveBytes, 0u);
  const unsigned mapped = Late->Maps;
  ASSERT_EQ(allocate(6 * MiB - 100), base);
  EXPECT_EQ(Late->Maps, mapped);
  const Buffer &again = bufferAt(base);
  EXPECT_EQ(again.bytes, 6 * MiB - 100);
  EXPECT_NE(again.number, number);
  EXPECT_EQ(parts->OnDevice.Pool.used(), 6 * MiB);
  EXPECT_EQ(parts->OnDevice.Chunks.size(), again.chunks.size());
  for (const Chunk &chunk : again.chunks)
    EXPECT_EQ(chunk.copies, Copies()); // it holds nothing
  // There was one.
  EXPECT_NE(allocate(6 * MiB), base);
}

TEST_F(SpareBuffersTest, OthersGetTheMemoryWhenTheyNeedIt) {
  ASSERT_NO_FATAL_FAILURE(start());
  const uintptr_t base = allocate(12 * MiB);
  ASSERT_OK(freeAt(base));
  EXPECT_TRUE(parts->OnDevice.Pool.hasRoom(16 * MiB));
  const uintptr_t other = allocate(14 * MiB);
  for (const Chunk &chunk : bufferAt(other).chunks)
    EXPECT_NE(chunk.device.id, 0u);
  EXPECT_LE(parts->OnDevice.Pool.most(), 16 * MiB);
  EXPECT_EQ(parts->OnDevice.Pool.used(), 14 * MiB);
}

TEST_F(SpareBuffersTest, TrimGivesAllBack) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_OK(freeAt(allocate(4 * MiB)));
  ASSERT_OK(parts->Alloc.trim());
  const unsigned mapped = Late->Maps;
  allocate(4 * MiB);
  EXPECT_GT(Late->Maps, mapped);
}

TEST_F(SpareBuffersTest, AFreeInAQueueWaitsForNothing) {
  ASSERT_NO_FATAL_FAILURE(start());
  const uintptr_t base = allocate(4 * MiB, in(Queues[0]));
  const int32_t before = wordAt(base);
  use(base, Queues[0], 77);
  ASSERT_OK(freeAt(base, Queues[0]));
  EXPECT_EQ(wordAt(base), before); // the work is still queued
  // What comes later in the queue may have it; nothing else may.
  const uintptr_t host = allocate(4 * MiB),
                  other = allocate(4 * MiB, in(Queues[1]));
  EXPECT_NE(host, base);
  EXPECT_NE(other, base);
  ASSERT_EQ(allocate(4 * MiB, in(Queues[0])), base);
  EXPECT_EQ(wordAt(base), before);
  // The new buffer is in use like one that was launched on.
  EXPECT_TRUE(parts->Time.isBusy(bufferAt(base).chunks[0]));
  ASSERT_OK(freeAt(base));
  EXPECT_EQ(wordAt(base), 77);
}

TEST_F(SpareBuffersTest, OnceTheWorkIsDoneTheMemoryIsForAll) {
  ASSERT_NO_FATAL_FAILURE(start());
  const uintptr_t base = allocate(4 * MiB, in(Queues[0]));
  use(base, Queues[0]);
  ASSERT_OK(freeAt(base, Queues[0]));
  ASSERT_OK(parts->Time.synchronizeAll());
  EXPECT_EQ(allocate(4 * MiB), base);
}

TEST_F(SpareBuffersTest, MemoryIsUnmappedAfterTheWorkThatUsesIt) {
  ASSERT_NO_FATAL_FAILURE(start());
  const uintptr_t base = allocate(12 * MiB, in(Queues[0]));
  use(base, Queues[0]);
  ASSERT_OK(freeAt(base, Queues[0]));
  allocate(14 * MiB);
  EXPECT_EQ(Late->misused(), 0u);
}

/// A new queue may have the name of one that has ended before its work.
TEST_F(SpareBuffersTest, AQueueThatEndsIsNoOrder) {
  ASSERT_NO_FATAL_FAILURE(start());
  for (size_t bytes : {size_t(4 * MiB), size_t(1024)}) {
    const uintptr_t base = allocate(bytes, in(Queues[0]));
    use(base, Queues[0]);
    ASSERT_OK(freeAt(base, Queues[0]));
    parts->Alloc.queueEnds(Queues[0]);
    EXPECT_NE(allocate(bytes, in(Queues[0])), base);
  }
}

TEST_F(SpareBuffersTest, SmallOnesAreFreedEarlyAsWell) {
  ASSERT_NO_FATAL_FAILURE(start());
  const uintptr_t base = allocate(1024, in(Queues[0]));
  const int32_t before = wordAt(base);
  use(base, Queues[0], 55);
  ASSERT_OK(freeAt(base, Queues[0]));
  EXPECT_EQ(wordAt(base), before);
  EXPECT_NE(allocate(1024, in(Queues[1])), base);
  EXPECT_NE(allocate(1024), base);
  ASSERT_EQ(allocate(1024, in(Queues[0])), base);
  ASSERT_OK(freeAt(base, Queues[0]));
  // The arena gets it back when the work is done.
  ASSERT_OK(parts->Time.synchronizeAll());
  EXPECT_EQ(wordAt(base), 55);
  EXPECT_EQ(allocate(1024), base);
}

TEST_F(SpareBuffersTest, TooMuchThatWasFreedEarlyIsWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(start());
  const size_t bytes = size_t(256) << 10;
  const uint64_t epoch = parts->Time.Epoch;
  // No two of a size: none gets what another one has freed.
  for (size_t i = 0; i < 200 && parts->Time.Epoch == epoch; ++i) {
    const uintptr_t base = allocate(bytes - 4 * i, in(Queues[0]));
    use(base, Queues[0]);
    ASSERT_OK(freeAt(base, Queues[0]));
  }
  EXPECT_NE(parts->Time.Epoch, epoch);
  EXPECT_EQ(Late->misused(), 0u);
}

TEST_F(SpareBuffersTest, OthersKeepNothing) {
  const auto mapsAnew = [&](bool hostAccessible, auto change) {
    AllocateOptions options;
    options.hostAccessible = hostAccessible;
    const uintptr_t base = allocate(4 * MiB, options);
    change(bufferAt(base));
    EXPECT_OK(freeAt(base));
    const unsigned mapped = Late->Maps;
    EXPECT_OK(freeAt(allocate(4 * MiB)));
    return Late->Maps > mapped;
  };
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_TRUE(mapsAnew(true, [](Buffer &) {}));
  ASSERT_OK(parts->Alloc.trim());
  // Others may know its memory.
  EXPECT_TRUE(mapsAnew(false, [](Buffer &buffer) { buffer.kept = true; }));
  ASSERT_OK(parts->Alloc.trim());
  // Where data moves, chunks of all buffers take turns.
  EXPECT_TRUE(
      mapsAnew(false, [this](Buffer &) { parts->Time.Tracking = true; }));
}

/// These show uses of what was freed.
TEST_F(SpareBuffersTest, NothingIsKeptWhereMistakesAreLookedFor) {
  settings.deviceMemory = 16 * MiB;
  settings.strict = true;
  ASSERT_NO_FATAL_FAILURE(startParts(2));
  ASSERT_OK(free(*Whole));
  const unsigned mapped = Late->Maps;
  allocate(4 * MiB);
  EXPECT_GT(Late->Maps, mapped);
}

} // namespace
