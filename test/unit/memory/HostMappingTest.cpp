//===- HostMappingTest.cpp - chunks that the device sees in host memory ---===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostMapping.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/PlacesFixture.h"

#include <algorithm>
#include <atomic>
#include <limits>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Has so much memory that can be mapped, and perhaps a link.
class MappableDevice final : public ForwardingDevice {
public:
  MappableDevice(std::unique_ptr<Device> inner, bool hasLink)
      : ForwardingDevice(std::move(inner)) {
    Caps.hasLink = hasLink;
  }
  std::atomic<int64_t> Left{std::numeric_limits<int64_t>::max()};

private:
  Status before(DeviceCall) override { return {}; }
  StatusOr<Physical> createImpl(Place place, size_t bytes) override {
    if (place == Place::Host && Left.fetch_sub(int64_t(bytes)) < int64_t(bytes))
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "refused");
    return inner().create(place, bytes);
  }
};

class HostMappingTest : public PlacesFixture {
protected:
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto made = std::make_unique<MappableDevice>(std::move(cpu), HasLink);
    Mappable = made.get();
    return made;
  }
  void putHost(uint64_t hostMemory = 32 * MiB) {
    settings.hostMemory = hostMemory;
    ASSERT_NO_FATAL_FAILURE(put(At::Host));
    for (const Chunk *chunk : Chunks)
      ASSERT_EQ(chunk->host.place, Place::Pinned);
    parts->Ctx.pins.next();
  }
  HostMapping &mapping() { return parts->Mapping; }
  /// What the host finds at the chunk's address.
  void expectMapped(const Chunk &chunk) {
    ASSERT_TRUE(chunk.hostMapped);
    const auto *words = static_cast<const int32_t *>(pointer(chunk.va()));
    EXPECT_TRUE(std::equal(words, words + Words,
                           Data.begin() + long(chunk.index * Words)));
  }
  size_t numMappable() const {
    return size_t(
        std::count_if(Chunks.begin(), Chunks.end(), [](const Chunk *chunk) {
          return chunk->host.place == Place::Host;
        }));
  }

  bool HasLink = false;
  MappableDevice *Mappable = nullptr;
};

TEST_F(HostMappingTest, TheHostFindsTheContentsAtTheChunksAddress) {
  for (At place : {At::Host, At::Both}) {
    ASSERT_NO_FATAL_FAILURE(put(place));
    for (Chunk *chunk : Chunks) {
      ASSERT_OK(mapping().map(*chunk));
      expectMapped(*chunk);
      EXPECT_EQ(chunk->device.id, 0u); // it is in one place
      EXPECT_EQ(chunk->copies, copiesAt(At::Host));
    }
    EXPECT_EQ(parts->OnDevice.Pool.used(), 0u);
    EXPECT_EQ(parts->Slabs.Pool.used(), Whole->bytes); // one slab each
    // What the host writes there is what copies find.
    static_cast<int32_t *>(pointer(Chunks[1]->va()))[7] = 1234;
    Data[Words + 7] = 1234;
    EXPECT_TRUE(contents() == Data);
    end();
  }
}

TEST_F(HostMappingTest, ManyChunksGetMappableMemoryAtOnce) {
  ASSERT_NO_FATAL_FAILURE(putHost());
  ASSERT_OK(mapping().makeMappable(Chunks));
  EXPECT_EQ(numMappable(), Count);
  EXPECT_EQ(parts->Slabs.Pool.used(), Whole->bytes);
  EXPECT_EQ(parts->Slabs.Chunks.size(), Count);
  for (const Chunk *chunk : Chunks) {
    EXPECT_FALSE(chunk->hostMapped); // map() does that
    EXPECT_EQ(chunk->copies, copiesAt(At::Host));
  }
  const uint64_t id = Chunks[0]->host.id;
  ASSERT_OK(mapping().makeMappable(Chunks)); // they have it
  EXPECT_EQ(Chunks[0]->host.id, id);
  for (Chunk *chunk : Chunks) {
    ASSERT_OK(mapping().map(*chunk));
    expectMapped(*chunk);
  }
  EXPECT_EQ(Chunks[0]->host.id, id);
}

TEST_F(HostMappingTest, WhoHasNoneGetsMemoryIfThereIsEnoughForAll) {
  for (bool enough : {true, false}) {
    SCOPED_TRACE(enough);
    settings.hostMemory = 32 * MiB;
    ASSERT_NO_FATAL_FAILURE(put(At::Device));
    if (!enough) {
      while (parts->Slabs.hasRoom(6 * MiB)) // all but two slabs
        Others.push_back(*parts->Slabs.Pool.take(2 * MiB));
    }
    ASSERT_OK(mapping().makeMappable(Chunks));
    EXPECT_EQ(numMappable(), enough ? Count : 0u);
    EXPECT_EQ(parts->Slabs.Chunks.size(), enough ? Count : 0u);
    for (const Chunk *chunk : Chunks)
      EXPECT_EQ(chunk->copies, copiesAt(At::Device)); // no contents yet
    EXPECT_TRUE(contents() == Data);
    end();
  }
}

TEST_F(HostMappingTest, AsManyAtATimeAsHaveTwoSlabs) {
  ASSERT_NO_FATAL_FAILURE(putHost());
  while (parts->Slabs.hasRoom(4 * MiB)) // all but one slab
    Others.push_back(*parts->Slabs.Pool.take(2 * MiB));
  ASSERT_OK(mapping().makeMappable(Chunks));
  EXPECT_EQ(numMappable(), Count - 1); // the last one by itself
  EXPECT_TRUE(contents() == Data);
  for (Chunk *chunk : Chunks) {
    ASSERT_OK(mapping().map(*chunk));
    expectMapped(*chunk);
  }
}

TEST_F(HostMappingTest, WhatTheHostRefusesOthersGiveUp) {
  ASSERT_NO_FATAL_FAILURE(putHost());
  Mappable->Left = 2 * MiB;
  ASSERT_OK(mapping().makeMappable(Chunks)); // as far as that goes
  EXPECT_EQ(numMappable(), 1u);
  EXPECT_TRUE(contents() == Data);
  Chunk &other =
      **std::find_if(Chunks.begin(), Chunks.end(), [](const Chunk *chunk) {
        return chunk->host.place == Place::Pinned;
      });
  ASSERT_OK(mapping().map(other));
  expectMapped(other);
  EXPECT_EQ(numMappable(), 1u);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(HostMappingTest, TheRateIsMeasuredWhereThereIsALink) {
  for (bool link : {false, true}) {
    HasLink = link;
    ASSERT_NO_FATAL_FAILURE(putHost());
    EXPECT_EQ(mapping().rate(), 0);
    ASSERT_OK(mapping().makeMappable(Chunks));
    EXPECT_EQ(mapping().rate() > 0, link);
    end();
  }
}

} // namespace
