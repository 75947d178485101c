//===- ProtectedMemoryTest.cpp - the program's memory as it was -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/ProtectedMemory.h"
#include "runtime/base/PinnedRanges.h"
#include "runtime/tier/HeldMemory.h"
#include "runtime/tier/MemoryCopies.h"
#include "test/unit/support/base/TemporaryFiles.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr size_t Unit = ProtectedMemory::UnitBytes;

/// Memory of the program's, `bytes` from an address that is `lead` behind the
/// beginning of a unit. Byte i is uint8_t(i * 7).
class Array {
public:
  explicit Array(size_t bytes, size_t lead = 0, int flags = MAP_PRIVATE)
      : Bytes(bytes), Room(bytes + lead + 2 * Unit) {
    Whole = ::mmap(nullptr, Room, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS,
                   -1, 0);
    EXPECT_NE(Whole, MAP_FAILED);
    const auto at = reinterpret_cast<uintptr_t>(Whole);
    Begin = (at + Unit - 1) / Unit * Unit + lead;
    for (size_t i = 0; i < Bytes; ++i)
      store(i, uint8_t(i * 7));
  }
  ~Array() {
    memory().release(Begin - Unit, end() + Unit);
    ::munmap(Whole, Room);
  }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  uintptr_t begin() const { return Begin; }
  uintptr_t end() const { return Begin + Bytes; }
  uint8_t byte(size_t i) const {
    return *reinterpret_cast<volatile uint8_t *>(Begin + i);
  }
  // ThreadSanitizer notes a store in front of it, so also in front of the signal
  // that orders it behind reads.
  __attribute__((no_sanitize("thread"))) void store(size_t i, uint8_t value) {
    *reinterpret_cast<volatile uint8_t *>(Begin + i) = value;
  }
  bool protect() { return memory().protect(Begin, end()); }
  /// What is read of it is what was there first.
  bool isAsItWas() const {
    std::vector<uint8_t> read(Bytes);
    readInto(read);
    for (size_t i = 0; i < Bytes; ++i)
      if (read[i] != uint8_t(i * 7))
        return false;
    return true;
  }
  void readInto(std::vector<uint8_t> &read) const {
    const ProtectedMemory::Reading asItWas;
    asItWas.forParts(Begin, Bytes,
                     [&](size_t done, const void *from, size_t bytes) {
                       std::memcpy(read.data() + done, from, bytes);
                     });
  }
  static ProtectedMemory &memory() { return ProtectedMemory::get(); }

private:
  const size_t Bytes, Room;
  void *Whole;
  uintptr_t Begin;
};

TEST(ProtectedMemory, StoresAreMadeAndReadsSeeWhatWasThere) {
  Array array(4 * Unit);
  ASSERT_TRUE(array.protect());
  EXPECT_FALSE(array.memory().hasSaved());
  array.store(Unit + 5, 200);
  array.store(Unit + 6, 201); // no second signal
  EXPECT_EQ(array.byte(Unit + 5), 200);
  EXPECT_TRUE(array.isAsItWas());
  ASSERT_TRUE(array.memory().hasSaved());
  const ProtectedMemory::Ranges saved{
      {array.begin() + Unit, array.begin() + 2 * Unit}};
  EXPECT_EQ(array.memory().saved(), saved);
  EXPECT_FALSE(array.memory().wasChanged(array.begin(), array.begin() + Unit));
  EXPECT_TRUE(array.memory().wasChanged(array.begin(), array.end()));
  array.memory().forget(saved[0].first, saved[0].second);
  EXPECT_FALSE(array.memory().hasSaved());
  EXPECT_FALSE(array.isAsItWas()); // nobody needed it
}

TEST(ProtectedMemory, WhatIsNoWholeUnitIsCopiedAtOnce) {
  constexpr size_t Lead = 1000, Bytes = 3 * Unit;
  Array array(Bytes, Lead);
  ASSERT_TRUE(array.protect());
  array.store(0, 99);
  array.store(Bytes - 1, 98);
  EXPECT_FALSE(array.memory().hasSaved()); // no signals
  EXPECT_TRUE(array.isAsItWas());
  const auto copied = array.memory().copied(array.begin(), array.end());
  ASSERT_EQ(copied.size(), 2u);
  EXPECT_EQ(copied[0].second - copied[0].first, Unit - Lead);
  EXPECT_EQ(copied[1].second - copied[1].first, Lead);
}

TEST(ProtectedMemory, MemoryOfWhichThereAreCopiesIsNotProtectedAgain) {
  Array array(3 * Unit);
  ASSERT_TRUE(array.protect());
  EXPECT_TRUE(array.protect()); // the same contents
  array.store(0, 1);
  EXPECT_FALSE(array.protect());
  array.memory().forget(array.begin(), array.end());
  EXPECT_TRUE(array.protect());
  EXPECT_EQ(array.byte(0), 1);
}

TEST(ProtectedMemory, WhatTheDeviceMayWriteIsNotProtected) {
  Array array(4 * Unit);
  const uintptr_t middle = array.begin() + Unit + 100;
  PinnedRanges::get().add({middle, middle + 8, PinnedRanges::Kind::Registered});
  EXPECT_FALSE(array.protect());
  EXPECT_TRUE(PinnedRanges::get().remove(middle, true));
  EXPECT_TRUE(array.protect());
}

TEST(ProtectedMemory, SaveAndReleaseMakeItWritable) {
  Array array(4 * Unit);
  ASSERT_TRUE(array.protect());
  ASSERT_TRUE(array.memory().save(array.begin() + Unit + 1,
                                  array.begin() + 2 * Unit + 1));
  EXPECT_EQ(array.memory().saved(),
            (ProtectedMemory::Ranges{
                {array.begin() + Unit, array.begin() + 3 * Unit}}));
  array.memory().release(array.begin(), array.end());
  EXPECT_FALSE(array.memory().hasSaved());
  EXPECT_FALSE(array.memory().concerns(array.begin(), array.end()));
  std::memset(reinterpret_cast<void *>(array.begin()), 3, 4 * Unit);
  EXPECT_FALSE(array.memory().hasSaved());
}

TEST(ProtectedMemory, ReleaseLeavesWhatReachesBeyondTheRange) {
  Array array(2 * Unit, 1000); // a unit, with bytes at both sides
  ASSERT_TRUE(array.protect());
  array.memory().release(array.begin() + 1, array.end() - 1);
  EXPECT_EQ(array.memory().copied(array.begin(), array.end()).size(), 2u);
}

TEST(ProtectedMemory, OtherMemoryIsNotProtected) {
  Array shared(2 * Unit, 0, MAP_SHARED);
  EXPECT_FALSE(shared.protect());
  Array small(Unit, 1); // no whole unit
  EXPECT_FALSE(small.protect());
  Array readOnly(2 * Unit);
  ASSERT_EQ(
      ::mprotect(reinterpret_cast<void *>(readOnly.begin()), Unit, PROT_READ),
      0);
  EXPECT_FALSE(readOnly.protect());
  bool onStack = true;
  std::thread([&] {
    char here = 0;
    const auto at = reinterpret_cast<uintptr_t>(&here);
    onStack = ProtectedMemory::get().protect(at - 5 * Unit / 2, at - 4096);
  }).join();
  EXPECT_FALSE(onStack);
}

TEST(ProtectedMemory, CopiesForWhichMemoryHasNoRoomAreInAFile) {
  TemporaryFolder folder;
  Array array(6 * Unit, 1000);
  array.memory().setRoom(2 * Unit, folder.path());
  ASSERT_TRUE(array.protect());
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 6; ++i)
      array.store(i * Unit + 3, uint8_t(200 + i));
    EXPECT_TRUE(array.isAsItWas());
    EXPECT_EQ(array.byte(3), 200);
    if (round == 0) { // slots are used again
      array.memory().release(array.begin(), array.end());
      for (size_t i = 0; i < 6; ++i)
        array.store(i * Unit + 3, uint8_t((i * Unit + 3) * 7));
      ASSERT_TRUE(array.protect());
    }
  }
  array.memory().setRoom(UINT64_MAX, "");
}

/// The device reads where the program wants to store.
TEST(ProtectedMemory, WhatIsHeldStaysAsItIs) {
  Array array(4 * Unit);
  ASSERT_TRUE(array.protect());
  array.store(3 * Unit, 99);
  EXPECT_FALSE(array.memory().hold(array.begin(), array.end())); // of it a copy
  const uintptr_t end = array.begin() + 2 * Unit;
  ASSERT_TRUE(array.memory().hold(array.begin(), end));
  ASSERT_TRUE(array.memory().hold(array.begin(), end)); // twice
  array.store(2 * Unit, 201);                           // not of what is held
  std::atomic<bool> stored{false}, letGo{false};
  std::thread program([&] {
    array.store(Unit, 200);
    EXPECT_TRUE(letGo);
    stored = true;
  });
  HeldMemory::get().letGo(array.begin(), end);
  for (int i = 0; i < 100; ++i)
    std::this_thread::yield();
  EXPECT_FALSE(stored);
  EXPECT_EQ(array.byte(Unit), uint8_t(Unit * 7));
  letGo = true;
  HeldMemory::get().letGo(array.begin(), end);
  program.join();
  EXPECT_EQ(array.byte(Unit), 200);
  EXPECT_TRUE(array.isAsItWas());
}

TEST(ProtectedMemory, AChildWaitsForNoDevice) {
  Array array(2 * Unit);
  ASSERT_TRUE(array.protect());
  ASSERT_TRUE(array.memory().hold(array.begin(), array.end()));
  const pid_t child = ::fork();
  if (child == 0) {
    array.store(0, 1);
    HeldMemory::get().await(array.begin(), array.end());
    ::_exit(array.byte(0) == 1 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  HeldMemory::get().letGo(array.begin(), array.end());
  EXPECT_TRUE(array.isAsItWas());
}

TEST(ProtectedMemory, SoMuchIsHeldAtMost) {
  HeldMemory &held = HeldMemory::get();
  uintptr_t ranges = 0;
  while (held.hold(Unit * (ranges + 1), Unit * (ranges + 2)))
    ++ranges;
  EXPECT_GE(ranges, 16u);
  held.await(Unit * (ranges + 2), UINTPTR_MAX);
  for (uintptr_t i = 0; i < ranges; ++i)
    held.letGo(Unit * (i + 1), Unit * (i + 2));
  held.await(0, UINTPTR_MAX);
}

/// Copies by several threads, one into what others are made from.
TEST(ProtectedMemory, GatheredCopiesReadWhatWasThere) {
  Array from(5 * Unit + 17), onto(3 * Unit);
  ASSERT_TRUE(from.protect());
  ASSERT_TRUE(onto.protect());
  from.store(Unit + 1, 99);
  std::vector<uint8_t> read(5 * Unit + 17), ofOnto(3 * Unit),
      ours(2 * Unit, 42);
  BackingFile *const memory = BackingFile::programMemory().get();
  auto request = [memory](std::vector<uint8_t> &other, const Array &array,
                          bool write) {
    return FileRequest{
        memory, other.data(), other.size(), int64_t(array.begin()), write, {}};
  };
  MemoryCopies copies;
  EXPECT_TRUE(copies.empty());
  copies.add(request(read, from, false));
  copies.add(request(ours, onto, true));
  copies.add(request(ofOnto, onto, false));
  EXPECT_EQ(copies.bytes(), read.size() + ours.size() + ofOnto.size());
  EXPECT_GE(copies.size(), 3u);
  copies.makeAll();
  for (size_t i = 0; i < read.size(); ++i)
    ASSERT_EQ(read[i], uint8_t(i * 7)) << i;
  for (size_t i = 0; i < ofOnto.size(); ++i) {
    ASSERT_EQ(ofOnto[i], uint8_t(i * 7)) << i;
    ASSERT_EQ(onto.byte(i), i < ours.size() ? 42 : uint8_t(i * 7)) << i;
  }
}

TEST(ProtectedMemory, AChildWritesWhereItLikes) {
  Array array(2 * Unit);
  ASSERT_TRUE(array.protect());
  const pid_t child = ::fork();
  if (child == 0) {
    array.store(0, 1);
    ::_exit(array.byte(0) == 1 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(array.memory().hasSaved());
  array.store(0, 2);
  EXPECT_TRUE(array.isAsItWas());
}

/// Stores of several threads while others read.
TEST(ProtectedMemory, ReadsAreOfOneMomentWhateverThreadsStore) {
  constexpr size_t Units = 8;
  Array array(Units * Unit);
  ASSERT_TRUE(array.protect());
  std::atomic<bool> right{true};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < Units; ++i)
        array.store((i * 5 + t) % Units * Unit + 64 * t, uint8_t(100 + t));
    });
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 2; ++round)
        if (!array.isAsItWas())
          right = false;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(right);
  for (size_t t = 0; t < 3; ++t)
    for (size_t i = 0; i < Units; ++i)
      EXPECT_EQ(array.byte(i * Unit + 64 * t), 100 + t);
}

} // namespace
