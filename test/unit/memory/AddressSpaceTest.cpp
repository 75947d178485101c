//===- AddressSpaceTest.cpp - which allocation an address is in -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/AddressSpace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace dragon;
using testing::HasSubstr;

namespace {

constexpr size_t Size = 64; ///< addresses from First on
constexpr uintptr_t First = 1000;

/// Some allocations, and which of them each address is in: the beginning of it,
/// or 0.
struct Model {
  std::vector<uintptr_t> owners = std::vector<uintptr_t>(Size, 0);
  AddressIndex index;

  void insert(size_t begin, size_t end) {
    index.insert({First + begin, end - begin, 0, false, "", nullptr});
    std::fill(owners.begin() + long(begin), owners.begin() + long(end),
              First + begin);
  }
  void erase(uintptr_t base) {
    index.erase(base);
    std::replace(owners.begin(), owners.end(), base, uintptr_t(0));
  }
};

TEST(AddressIndexTest, AgreesWithAMapOfBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Model model;
    for (int step = 0; step < 25; ++step) {
      const size_t begin = random() % Size;
      const size_t end =
          begin + 1 + random() % std::min<size_t>(9, Size - begin);
      const uint64_t before = model.index.generation();
      if (std::all_of(model.owners.begin() + long(begin),
                      model.owners.begin() + long(end),
                      [](uintptr_t owner) { return !owner; }))
        model.insert(begin, end);
      else if (model.owners[begin])
        model.erase(model.owners[begin]);
      else
        continue;
      ASSERT_GT(model.index.generation(), before);
      for (size_t at = 0; at < Size; ++at) {
        const Allocation *found = model.index.find(First + at);
        ASSERT_EQ(found ? found->base : 0, model.owners[at]) << at;
      }
      ASSERT_EQ(model.index.find(First - 1), nullptr);
      ASSERT_EQ(model.index.find(First + Size), nullptr);
      const size_t from = random() % Size,
                   to = from + 1 + random() % (Size - from);
      std::vector<uintptr_t> expected(model.owners.begin() + long(from),
                                      model.owners.begin() + long(to));
      expected.erase(std::unique(expected.begin(), expected.end()),
                     expected.end());
      std::erase(expected, uintptr_t(0));
      std::vector<uintptr_t> actual;
      for (const Allocation *found :
           model.index.overlapping(First + from, First + to))
        actual.push_back(found->base);
      ASSERT_EQ(actual, expected) << from << " " << to;
    }
  }
}

class AddressSpaceTest : public testing::Test {
protected:
  Buffer &add(uintptr_t base, size_t bytes, const char *name) {
    Space.Buffers.push_back(std::make_unique<Buffer>());
    Buffer &buffer = *Space.Buffers.back();
    buffer.base = base;
    buffer.bytes = buffer.vaBytes = bytes;
    Space.Allocations.insert({base, bytes, 0, false, name, &buffer});
    return buffer;
  }
  AddressSpace Space;
};

TEST_F(AddressSpaceTest, ARangeIsInOneAllocation) {
  add(100, 50, "a");
  add(150, 50, "b");
  auto found = Space.rangeOf(149, 1, "copy");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->name, "a");
  EXPECT_TRUE(Space.rangeOf(150, 50, "copy").ok());
  Status status = Space.rangeOf(149, 2, "copy").takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(status.message(),
              HasSubstr("copy: 2 B at 0x95 reach beyond the end of buffer "
                        "'a'"));
  status = Space.rangeOf(200, 1, "fill").takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(status.message(), HasSubstr("fill: 0xc8 is in no buffer"));
  // So many bytes that the end is in front of the beginning.
  EXPECT_FALSE(Space.rangeOf(100, SIZE_MAX, "copy").ok());
}

TEST_F(AddressSpaceTest, MemoryOfOthersIsAskedForOnce) {
  constexpr uintptr_t GiB = uintptr_t(1) << 30, KiB = 1024;
  AddressIndex &index = Space.Allocations;
  EXPECT_FALSE(index.isOthers(GiB)); // nobody knows
  unsigned asked = 0;
  index.setOthers([&asked](uintptr_t address) -> AddressRange {
    ++asked;
    if (address >= GiB && address < 2 * GiB)
      return {GiB, 2 * GiB};
    return {address, address};
  });
  EXPECT_TRUE(index.isOthers(GiB));
  EXPECT_TRUE(index.isOthers(2 * GiB - 1));
  EXPECT_EQ(asked, 1u);
  EXPECT_FALSE(index.isOthers(2 * GiB));
  EXPECT_FALSE(index.isOthers(2 * GiB));
  EXPECT_EQ(asked, 3u);
  // The memory may have become ours since.
  Buffer &buffer = add(GiB + 512 * KiB, 100 * KiB, "a");
  buffer.vaBytes = 200 * KiB;
  EXPECT_TRUE(index.isOthers(GiB + KiB));
  EXPECT_EQ(asked, 4u);
  // Next to a buffer, of which there is more than the program asked for, an
  // address may have been made from a pointer to it.
  for (uintptr_t ours : {buffer.base - 1, buffer.base - 64 * KiB,
                         buffer.base + 100 * KiB, buffer.base + 264 * KiB})
    EXPECT_FALSE(index.isOthers(ours)) << ours - GiB;
  EXPECT_TRUE(index.isOthers(buffer.base - 64 * KiB - 1));
  EXPECT_TRUE(index.isOthers(buffer.base + 264 * KiB + 1));
}

TEST_F(AddressSpaceTest, WhatADriverMovesTakesNothingOfTheBudget) {
  add(1000, 10, "a");
  add(2000, 20, "b").kept = true;
  Buffer &moved = add(3000, 40, "c");
  moved.kept = moved.driverMoved = true;
  EXPECT_EQ(Space.keptBytes(), 20u);
}

} // namespace
