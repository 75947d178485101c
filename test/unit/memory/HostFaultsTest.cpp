//===- HostFaultsTest.cpp - the host touches a chunk ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is done about a fault. That an access raises one, and goes on then, is
// the device's to see to (device/ProtectionTest.cpp).
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/HostFaults.h"
#include "test/unit/support/memory/PlacesFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

/// Hears of what the host does.
class Listener final : public Observer {
public:
  struct Heard {
    bool wrote;
    AddressRange range;
    HostAccess how;
    const void *contents;
  };
  explicit Listener(std::vector<Heard> &all) : All(all) {}

  void hostWrote(AddressRange range, HostAccess how,
                 const void *contents) override {
    All.push_back({true, range, how, contents});
  }
  void hostRead(AddressRange range, HostAccess how,
                const void *contents) override {
    All.push_back({false, range, how, contents});
  }
  void allocated(const ObservedBuffer &) override {}
  void freed(AddressRange) override {}
  void copied(uintptr_t, uintptr_t, size_t) override {}
  void filled(AddressRange, uint32_t, unsigned) override {}
  void discarded(const ObservedEnd &) override {}
  void prefetched(AddressRange) override {}
  void unseen(AddressRange) override {}
  void touchesElided(const ObservedHostCode &) override {}
  void launchBegins(const char *, uint64_t) override {}
  void blocksRun(const ObservedBlocks &,
                 std::span<const AddressRange>) override {}
  void launchEnds() override {}
  bool wantsFootprints() const override { return false; }
  void report(Stats &) override {}
  int verdict() override { return 0; }

private:
  std::vector<Heard> &All;
};

class HostFaultsTest : public PlacesFixture {
protected:
  uint64_t faults() { return parts->Ctx.ledger.counter(Counter::HostFaults); }
};

TEST_F(HostFaultsTest, TheChunkComesToWhereItIsTouched) {
  for (At place : Places) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(put(place));
    giveHost();
    const uint64_t clock = parts->Ctx.clock;
    ASSERT_OK(parts->Faults.access(Chunks[1]->va() + 12345));
    EXPECT_GT(parts->Ctx.clock, clock);
    EXPECT_EQ(Chunks[1]->lastTouch, parts->Ctx.clock);
    // What it writes cannot be seen.
    EXPECT_TRUE(Chunks[1]->hostMapped);
    EXPECT_EQ(Chunks[1]->copies, copiesAt(At::Host));
    EXPECT_TRUE(Chunks[1]->storage.undefined());
    EXPECT_EQ(Chunks[0]->copies, copiesAt(place));
    EXPECT_EQ(Chunks[2]->copies, copiesAt(place));
    EXPECT_EQ(faults(), 1u);
    auto *words = static_cast<int32_t *>(pointer(Chunks[1]->va()));
    EXPECT_TRUE(std::equal(words, words + Words, Data.begin() + long(Words)));
    words[5] = 77;
    Data[Words + 5] = 77;
    // The next work on the device brings it back.
    ASSERT_OK(bringIn(*Chunks[1], LaunchNeed::Read));
    EXPECT_FALSE(Chunks[1]->hostMapped);
    EXPECT_TRUE(contents() == Data);
    end();
  }
}

TEST_F(HostFaultsTest, WhatIsThereAlreadyIsNoFault) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  ASSERT_OK(parts->Faults.access(Chunks[0]->va()));
  const uint64_t clock = parts->Ctx.clock;
  // Two threads touched it, and this one comes second.
  ASSERT_OK(parts->Faults.access(Chunks[0]->va() + 100));
  EXPECT_EQ(faults(), 1u);
  EXPECT_EQ(parts->Ctx.clock, clock);
  ASSERT_OK(parts->Faults.access(Chunks[2]->usedEnd() - 1));
  EXPECT_EQ(faults(), 2u);
  EXPECT_TRUE(Chunks[2]->hostMapped);
}

TEST_F(HostFaultsTest, WhoWatchesHearsOfIt) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  std::vector<Listener::Heard> heard;
  parts->Ctx.watcher = std::make_unique<Listener>(heard);
  ASSERT_OK(parts->Faults.access(Chunks[1]->va() + 8));
  ASSERT_EQ(heard.size(), 2u);
  const AddressRange range{Chunks[1]->va(), Chunks[1]->usedEnd()};
  for (size_t i : {0, 1}) {
    EXPECT_EQ(heard[i].wrote, i == 1);
    EXPECT_EQ(heard[i].range, range);
    EXPECT_EQ(heard[i].how, HostAccess::Fault);
  }
  // It reads what was there; what it writes is not known.
  EXPECT_EQ(heard[0].contents, Chunks[1]->host.hostView);
  EXPECT_EQ(heard[1].contents, nullptr);
}

TEST_F(HostFaultsTest, WithoutHostMemoryTheChunkStays) {
  ASSERT_NO_FATAL_FAILURE(put(At::Device));
  fillHost();
  EXPECT_EQ(parts->Faults.access(Chunks[0]->va()).code(),
            DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_FALSE(Chunks[0]->hostMapped);
  EXPECT_EQ(Chunks[0]->copies, copiesAt(At::Device));
  EXPECT_TRUE(contents() == Data);
}

} // namespace
