//===- ReferencePagerTest.cpp - what a fault-driven driver moves ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/ReferencePager.h"

#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::oracle;

namespace {

constexpr uint64_t Block = ReferencePager::BlockBytes;

AddressRange blocks(unsigned first, unsigned count = 1) {
  return {first * Block, (first + count) * Block};
}

TEST(ReferencePager, MovesBlocksOnFaultAndEvictsInTheOrderOfArrival) {
  ReferencePager pager(2 * Block, false);
  pager.hostWrote(blocks(0, 3));
  EXPECT_EQ(pager.traffic().total(), 0u);
  pager.used(blocks(0));
  pager.used(blocks(1));
  pager.used(blocks(0)); // no fault: it does not become younger
  EXPECT_EQ(pager.traffic().hostToDevice, 2 * Block);
  pager.used(blocks(2)); // evicts 0, although it has not changed
  EXPECT_EQ(pager.traffic().hostToDevice, 3 * Block);
  EXPECT_EQ(pager.traffic().deviceToHost, Block);
  pager.used(blocks(1)); // is still there
  EXPECT_EQ(pager.traffic().hostToDevice, 3 * Block);
}

TEST(ReferencePager, MovesOnlyContents) {
  ReferencePager pager(Block, false);
  pager.used({0, 3 * PageBytes}); // nobody has written them
  EXPECT_EQ(pager.traffic().total(), 0u);
  pager.used(blocks(1));
  EXPECT_EQ(pager.traffic().deviceToHost, 3 * PageBytes);
  pager.freed(blocks(1));
  pager.used(blocks(0));
  EXPECT_EQ(pager.traffic().deviceToHost, 3 * PageBytes);
  EXPECT_EQ(pager.traffic().hostToDevice, 3 * PageBytes);
}

TEST(ReferencePager, CopiesOfTheProgramGoWhereThePagesAre) {
  ReferencePager pager(2 * Block, false);
  pager.used(blocks(0));
  pager.hostWrote({0, 4 * PageBytes});
  EXPECT_EQ(pager.traffic().hostToDevice, 4 * PageBytes);
  pager.hostRead({0, 2 * PageBytes});
  EXPECT_EQ(pager.traffic().deviceToHost, 2 * PageBytes);
  pager.hostWrote(blocks(1));
  pager.hostRead(blocks(1));
  EXPECT_EQ(pager.traffic().total(), 6 * PageBytes);
}

TEST(ReferencePager, HonoursDiscardsIfAskedFor) {
  for (bool honours : {false, true}) {
    ReferencePager pager(2 * Block, honours);
    pager.used(blocks(0));
    pager.used(blocks(1));
    // Half of the first and all of the second.
    pager.discarded({PageBytes / 2, Block / 2});
    pager.discarded(blocks(1));
    pager.used(blocks(2)); // the dead block goes first
    EXPECT_EQ(pager.traffic().deviceToHost, honours ? 0 : Block);
    pager.used(blocks(3));
    EXPECT_EQ(pager.traffic().deviceToHost,
              honours ? Block / 2 + PageBytes : 2 * Block);
    // What is used again is alive again.
    pager.used({0, 16 * PageBytes});
    EXPECT_EQ(pager.traffic().hostToDevice,
              honours ? Block / 2 + PageBytes : Block);
  }
}

} // namespace
