//===- PeerSlabsTest.cpp - contents in the memory of other devices --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/PeerSlabs.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/PlacesFixture.h"

#include <mutex>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

/// Two peers of four chunks each, and three chunks of contents.
class PeerSlabsTest : public PlacesFixture {
protected:
  void SetUp() override {
    PlacesFixture::SetUp();
    settings.cpuDevices = 3;
    settings.peers.all = true;
    settings.deviceMemory = 8 * MiB;
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto faulty = std::make_unique<FaultyDevice>(std::move(cpu), 0,
                                                 DRAGON_ERROR_OUT_OF_MEMORY);
    Faulty = faulty.get();
    return faulty;
  }
  void putWithPeers(At place) {
    ASSERT_NO_FATAL_FAILURE(put(place));
    parts->Slabs.Peers.start();
  }
  void putOnPeers() {
    ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Device));
    ASSERT_OK(evict(0, Count));
    for (const Chunk *chunk : Chunks) {
      ASSERT_EQ(chunk->host.place, Place::Peer);
      ASSERT_EQ(chunk->copies, (Copies{false, true, false}));
      ASSERT_EQ(chunk->host.hostView, nullptr);
    }
  }
  PeerSlabs &peers() { return parts->Slabs.Peers; }
  uint64_t whole() const { return Count * 2 * MiB; }

  FaultyDevice *Faulty = nullptr;
};

TEST_F(PeerSlabsTest, EvictedContentsGoThereAndComeBack) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  EXPECT_EQ(moved(Direction::DeviceToPeer, Cause::Eviction), whole());
  EXPECT_EQ(moved(Direction::DeviceToHost), 0u);
  EXPECT_EQ(contents(), Data); // by the peer's own link
  EXPECT_EQ(moved(Direction::PeerToHost, Cause::Copy), whole());
  EXPECT_EQ(contentsBroughtIn(), Data);
  EXPECT_EQ(moved(Direction::PeerToDevice, Cause::Demand), whole());
  EXPECT_EQ(moved(Direction::HostToDevice, Cause::Demand), 0u);
}

TEST_F(PeerSlabsTest, TheRoomiestTakesTheNext) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  EXPECT_EQ(peers().budget(), 16 * MiB);
  EXPECT_EQ(peers().used(), whole());
  EXPECT_NE(Chunks[0]->host.peer, Chunks[1]->host.peer);
  EXPECT_EQ(Chunks[0]->host.peer, Chunks[2]->host.peer);
}

TEST_F(PeerSlabsTest, WhatTheyHaveNoRoomForGoesToTheHost) {
  settings.peerMemory = 2 * MiB;
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Device));
  ASSERT_OK(evict(0, Count));
  EXPECT_EQ(moved(Direction::DeviceToPeer), 4 * MiB);
  EXPECT_EQ(moved(Direction::DeviceToHost), 2 * MiB);
  EXPECT_EQ(Chunks[2]->host.place, Place::Pinned);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, APeerThatRefusesHasNoMore) {
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Device));
  // A device that gives none of it any more, as if somebody else had it.
  auto slab = peers().take(2 * MiB);
  ASSERT_TRUE(slab);
  Faulty->failAt(1);
  auto other = peers().take(2 * MiB);
  EXPECT_TRUE(Faulty->hasFailed());
  ASSERT_TRUE(other); // of the one that has given some already
  EXPECT_EQ(other->peer, slab->peer);
  EXPECT_EQ(peers().budget(), 8 * MiB);
  peers().give(*slab);
  peers().give(*other);
  EXPECT_EQ(peers().used(), 0u);
}

TEST_F(PeerSlabsTest, TheHostFindsContentsAtHome) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  ASSERT_OK(writeOnHost(*Chunks[1]));
  EXPECT_NE(Chunks[1]->host.place, Place::Peer);
  ASSERT_NE(Chunks[1]->host.hostView, nullptr);
  EXPECT_EQ(static_cast<const int32_t *>(Chunks[1]->host.hostView)[7],
            Data[Words + 7]);
  EXPECT_EQ(moved(Direction::PeerToHost, Cause::HostAccess), 2 * MiB);
  EXPECT_EQ(peers().used(), 4 * MiB);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, KernelsReachThemInPlace) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  parts->Ctx.pins.next();
  ASSERT_OK(parts->Mapping.map(*Chunks[0]));
  EXPECT_EQ(Chunks[0]->host.place, Place::Peer);
  static_cast<int32_t *>(pointer(Chunks[0]->va()))[3] = 4711; // a kernel does
  Data[3] = 4711;
  ASSERT_OK(parts->Data.wroteHost(*Chunks[0]));
  EXPECT_EQ(contents(), Data);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, HostMemoryThatKernelsWillReachGoesThere) {
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Host));
  auto moved = parts->Host.goToPeer(*Chunks[0], /*moves=*/true);
  ASSERT_TRUE(moved.ok());
  EXPECT_TRUE(*moved);
  EXPECT_EQ(Chunks[0]->host.place, Place::Peer);
  EXPECT_EQ(parts->Ctx.ledger.bytes(Direction::HostToPeer), 2 * MiB);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, ContentsStayWhereTheCopyFails) {
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Host));
  for (uint64_t n = 1; n < 4; ++n) { // of create, copy, record
    Faulty->failAt(n);
    auto moved = parts->Host.goToPeer(*Chunks[0], /*moves=*/true);
    if (moved.ok() && *moved)
      break;
    EXPECT_NE(Chunks[0]->host.place, Place::Peer);
  }
  Faulty->failAt(0);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, TheOnlyCopyIsNotGivenUp) {
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Host));
  auto moved = parts->Host.goToPeer(*Chunks[0], /*moves=*/false);
  ASSERT_TRUE(moved.ok());
  EXPECT_FALSE(*moved);
  EXPECT_EQ(peers().used(), 0u);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, WhatOthersHaveAsWellGoesToFreeRoomOnly) {
  settings.peerMemory = 2 * MiB;
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Both));
  ASSERT_OK(evict(0, Count));
  EXPECT_EQ(moved(Direction::DeviceToPeer), 4 * MiB);
  EXPECT_EQ(Chunks[2]->host.place, Place::Pinned);
  // The host memory of those that went has gone back.
  EXPECT_EQ(parts->Slabs.Pool.used(), 2 * MiB);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, ContentsOnTheDeviceGiveTheirSlabToOthers) {
  settings.peerMemory = 2 * MiB;
  settings.cpuDevices = 2;
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Device));
  ASSERT_OK(evict(0, 1));
  ASSERT_OK(bringIn(*Chunks[0], LaunchNeed::Read));
  ASSERT_TRUE(Chunks[0]->copies.host);
  ASSERT_OK(evict(1, 1));
  EXPECT_EQ(Chunks[1]->host.place, Place::Peer);
  EXPECT_EQ(Chunks[0]->copies, (Copies{true, false, false}));
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, BuffersThatTheHostReachesAreNotThere) {
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Device));
  Whole->hostAccessible = true;
  ASSERT_OK(evict(0, Count));
  Whole->hostAccessible = false;
  EXPECT_EQ(peers().used(), 0u);
  EXPECT_EQ(moved(Direction::DeviceToHost), whole());
}

TEST_F(PeerSlabsTest, CopiesInGoThereWhereTheContentsAre) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  // Others have all of the device.
  parts->OnDevice.Pool.setBudget(0);
  write(5, numbers(100, 99));       // a part
  write(Words, numbers(Words, 12)); // a chunk
  EXPECT_EQ(moved(Direction::HostToPeer, Cause::Copy), 2 * MiB + 400);
  parts->OnDevice.Pool.setBudget(8 * MiB);
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, TheyGiveBackWhatNobodyUses) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  ASSERT_OK(writeOnHost(*Chunks[0]));
  const unsigned first = parts->Ctx.caps().peers.size() == 2 ? 0 : 1;
  EXPECT_TRUE(peers().follow(first, 2 * MiB));
  EXPECT_FALSE(peers().follow(first, 0)); // a chunk uses it
}

TEST_F(PeerSlabsTest, WhatOthersWantLeavesForTheHost) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  const unsigned peer = Chunks[0]->host.peer; // of two of the three
  parts->Ctx.pins.next();
  Chunks[0]->lastTouch = 5;
  Chunks[2]->lastTouch = 3;
  EXPECT_TRUE(parts->Host.leavePeer(peer, 2 * MiB));
  EXPECT_EQ(Chunks[0]->host.place, Place::Peer);
  EXPECT_EQ(Chunks[2]->host.place, Place::Pinned);
  EXPECT_TRUE(parts->Host.leavePeer(peer, 0));
  EXPECT_EQ(Chunks[0]->host.place, Place::Pinned);
  EXPECT_EQ(Chunks[1]->host.place, Place::Peer); // another one's
  EXPECT_EQ(contentsBroughtIn(), Data);
}

TEST_F(PeerSlabsTest, WhatCallsHoldStays) {
  ASSERT_NO_FATAL_FAILURE(putOnPeers());
  parts->Ctx.pins.next();
  parts->Ctx.pins.add(*Chunks[0]);
  EXPECT_FALSE(parts->Host.leavePeer(Chunks[0]->host.peer, 0));
  EXPECT_EQ(Chunks[0]->host.place, Place::Peer);
  EXPECT_EQ(peers().used(), 4 * MiB); // and the one of the other peer
}

/// Another program on the peer: it joins, and wants all of it.
TEST_F(PeerSlabsTest, ProgramsOfAPeerComeFirst) {
  settings.share = 1;
  settings.shareDir = folder.path();
  settings.peers.all = false;
  settings.peers.numbers = {1};
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  std::mutex lock; // as the runtime's
  peers().start([&](unsigned peer) {
    const std::lock_guard<std::mutex> guard(lock);
    parts->Ctx.pins.next();
    return parts->Host.leavePeer(peer, peers().limit(peer));
  });
  {
    const std::lock_guard<std::mutex> guard(lock);
    ASSERT_OK(evict(0, Count));
    ASSERT_EQ(peers().used(), whole());
  }
  DeviceShare::Terms terms;
  terms.free = 8 * MiB;
  terms.freeIsShared = false;
  auto other = DeviceShare::join(folder.path(), "cpu1", terms);
  ASSERT_TRUE(other.ok());
  (*other)->wants(6 * MiB);
  EXPECT_EQ((*other)->waitForRoom(6 * MiB, 30), DeviceShare::Room::There);
  EXPECT_TRUE((*other)->reserve(6 * MiB));
  {
    const std::lock_guard<std::mutex> guard(lock);
    EXPECT_LE(peers().used(), 2 * MiB);
    EXPECT_EQ(contentsBroughtIn(), Data);
  }
  (*other)->release(6 * MiB);
  peers().stop();
}

TEST_F(PeerSlabsTest, NumbersChooseThem) {
  settings.peers.all = false;
  settings.peers.numbers = {2};
  ASSERT_NO_FATAL_FAILURE(putWithPeers(At::Device));
  ASSERT_EQ(parts->Ctx.caps().peers.size(), 1u);
  EXPECT_EQ(parts->Ctx.caps().peers[0].name, "simulated device 2");
  settings.peers.numbers = {3};
  std::string notes;
  EXPECT_THAT(createDevice(settings, notes).takeStatus().message(),
              HasSubstr("DRAGON_PEERS names device 3: there are 0 to 2"));
  settings.peers.numbers = {0};
  EXPECT_THAT(createDevice(settings, notes).takeStatus().message(),
              HasSubstr("names device 0: that is the program's own"));
}

} // namespace
