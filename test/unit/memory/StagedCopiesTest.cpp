//===- StagedCopiesTest.cpp - through pinned blocks, by several threads ---===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/StagedCopies.h"
#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/tier/FolderFixture.h"

#include <algorithm>
#include <atomic>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

std::vector<char> pattern(size_t bytes, unsigned seed) {
  std::vector<char> result(bytes);
  for (size_t i = 0; i < bytes; ++i)
    result[i] = char((i * 31 + i / 4096 + seed) >> 1);
  return result;
}

/// A device with a mapped buffer and pinned blocks.
class StagedCopiesTest : public FolderFixture {
protected:
  static constexpr size_t Bytes = 24 * MiB;

  void open(uint64_t failAt = 0) {
    settings.deviceMemory = 32 * MiB;
    auto made = makeDevice();
    ASSERT_TRUE(made);
    auto late = std::make_unique<LateDevice>(std::move(made));
    Late = late.get();
    auto faulty = std::make_unique<FaultyDevice>(std::move(late), 0);
    Base = *faulty->reserve(Bytes);
    Memory = *faulty->create(Place::Device, Bytes);
    ASSERT_OK(faulty->map(Base, Memory));
    Slab = *faulty->create(Place::Pinned, 8 * MiB);
    Order = *faulty->createQueue(1, 0);
    Through = *faulty->createQueue(1, 0);
    faulty->failAt(failAt);
    Dev = std::move(faulty);
  }
  void close() {
    Dev->failAt(0);
    EXPECT_OK(Dev->destroy(Slab)); // counts as misuse if it is in use
    EXPECT_OK(Dev->unmap(Base, Memory));
    EXPECT_OK(Dev->destroy(Memory));
    EXPECT_OK(Dev->release(Base, Bytes));
    EXPECT_EQ(Late->misused(), 0u);
  }

  LateDevice *Late = nullptr;
  std::unique_ptr<FaultyDevice> Dev;
  uintptr_t Base = 0;
  Physical Memory, Slab;
  Queue Order = nullptr, Through = nullptr;
};

TEST_F(StagedCopiesTest, thereAndBack) {
  open();
  std::vector<char> from = pattern(Bytes - 5, 3), to(from.size());
  const std::vector<char> sent = from;
  {
    StagedCopies copies(*Dev, Order, Through);
    ASSERT_OK(copies.addMemory(Slab));
    ASSERT_OK(copies.toDevice(Base + 3, from.data(), from.size()));
    // It may be changed now.
    std::fill(from.begin(), from.end(), 0);
    ASSERT_OK(copies.fromDevice(to.data(), Base + 3, to.size()));
    EXPECT_TRUE(to == sent);
    // In parts, of which some are smaller than a block.
    for (size_t at = 0, part = 1; at < sent.size(); at += part, part *= 7) {
      part = std::min(part, sent.size() - at);
      ASSERT_OK(copies.toDevice(Base + at, sent.data() + at, part));
    }
    ASSERT_OK(copies.finish());
  }
  std::fill(to.begin(), to.end(), 0);
  ASSERT_OK(Dev->copy(to.data(), pointer(Base), to.size(),
                      CopyKind::DeviceToHost, Order));
  ASSERT_OK(Dev->synchronize(Order));
  EXPECT_TRUE(to == sent);
  EXPECT_GT(Late->late(), 8u);
  close();
}

TEST_F(StagedCopiesTest, inTheOrderOfTheQueue) {
  open();
  std::vector<char> from = pattern(Bytes, 6), to(Bytes);
  StagedCopies copies(*Dev, Order, Through);
  ASSERT_OK(copies.addMemory(Slab));
  // What is in the queue before is done before; nobody has waited for it.
  ASSERT_OK(Dev->fill(pointer(Base), 0x55, 1, Bytes, Order));
  ASSERT_OK(copies.toDevice(Base, from.data(), 20 * MiB));
  ASSERT_OK(copies.fromDevice(to.data(), Base, Bytes));
  std::fill(from.begin() + 20 * MiB, from.end(), 0x55);
  EXPECT_TRUE(to == from);
  // And what comes after it after.
  ASSERT_OK(copies.toDevice(Base, to.data(), 20 * MiB));
  ASSERT_OK(Dev->fill(pointer(Base), 0x11, 1, MiB, Order));
  ASSERT_OK(Dev->synchronize(Order));
  std::fill(from.begin(), from.begin() + MiB, 0x11);
  ASSERT_OK(copies.fromDevice(to.data(), Base, Bytes));
  EXPECT_TRUE(to == from);
  ASSERT_OK(copies.finish());
  close();
}

TEST_F(StagedCopiesTest, othersAreMadeMeanwhile) {
  open();
  const std::vector<char> from = pattern(Bytes, 6);
  StagedCopies copies(*Dev, Order, Through);
  ASSERT_OK(copies.addMemory(Slab));
  ASSERT_OK(copies.toDevice(Base, from.data(), Bytes));
  // Ranges apart from each other, and more or fewer parts than they have.
  for (size_t parts : {0, 3, 100}) {
    std::vector<char> to(Bytes);
    std::vector<std::atomic<int>> made(parts);
    const StagedCopies::ToHost ranges[] = {
        {to.data() + 1, Base + 1, 5 * MiB},
        {to.data() + 6 * MiB, Base + 6 * MiB, MiB},
        {to.data() + 9 * MiB, Base + 9 * MiB, Bytes - 9 * MiB}};
    ASSERT_OK(copies.fromDevice(ranges, {parts, [&](size_t i) { ++made[i]; }}));
    std::vector<char> expected(Bytes);
    for (const StagedCopies::ToHost &range : ranges)
      std::copy_n(from.data() + (range.from - Base), range.bytes,
                  expected.data() + (range.from - Base));
    EXPECT_TRUE(to == expected);
    for (const std::atomic<int> &times : made)
      EXPECT_EQ(times, 1);
  }
  // None on the device.
  int made = 0;
  ASSERT_OK(copies.fromDevice({}, {1, [&](size_t) { ++made; }}));
  EXPECT_EQ(made, 1);
  ASSERT_OK(copies.finish());
  close();
}

TEST_F(StagedCopiesTest, eachCallFailsOnce) {
  std::vector<char> from = pattern(9 * MiB, 4), to(from.size());
  bool failed = true;
  for (uint64_t n = 1; failed; ++n) {
    ASSERT_LT(n, 1000u);
    open(n);
    Status status;
    {
      StagedCopies copies(*Dev, Order, Through);
      status = copies.addMemory(Slab);
      if (status.ok())
        status = copies.toDevice(Base, from.data(), from.size());
      if (status.ok())
        status = copies.fromDevice(to.data(), Base, to.size());
      if (status.ok())
        status = copies.finish();
    }
    failed = Dev->hasFailed();
    if (!status.ok())
      EXPECT_THAT(status.message(), HasSubstr("injected failure of call"));
    else
      EXPECT_TRUE(from == to);
    // To destroy an event that nobody needs may fail unseen.
    if (failed && status.ok())
      EXPECT_EQ(Dev->failedCall(), DeviceCall::DestroyEvent);
    close();
  }
}

} // namespace
