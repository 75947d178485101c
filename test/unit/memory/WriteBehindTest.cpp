//===- WriteBehindTest.cpp - writes of evicted contents -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/WriteBehind.h"
#include "test/unit/support/memory/DirtyFixture.h"

#include <cerrno>

using namespace dragon;
using namespace dragon::test;

namespace {

class WriteBehindTest : public DirtyFixture<MemoryParts> {};

TEST_F(WriteBehindTest, NobodyWaitsForTheDisk) {
  start(32 * MiB); // 8 MiB of transit memory: 4 for writes
  gate.setOpen(false);
  ASSERT_OK(evict(0, 2)); // or this would not return
  gate.waitForWrite();
  EXPECT_EQ(parts->Writes.bytes(), 4 * MiB);
  EXPECT_EQ(parts->Writes.writings().size(), 2u);
  for (size_t i : {0, 1}) {
    EXPECT_FALSE(Chunks[i]->device.id);
    EXPECT_TRUE(Chunks[i]->copies.host);
    EXPECT_FALSE(Chunks[i]->copies.storage);
  }
  EXPECT_EQ(swapped(), 0u);
  EXPECT_TRUE(contents() == Data); // from the host copies
  gate.setOpen(true);
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_EQ(parts->Writes.bytes(), 0u);
  EXPECT_EQ(swapped(), 4 * MiB);
  for (size_t i : {0, 1}) {
    EXPECT_FALSE(Chunks[i]->host.id);
    EXPECT_TRUE(Chunks[i]->copies.storage);
  }
  EXPECT_EQ(parts->Slabs.Pool.used(), Others.size() * 2 * MiB);
  EXPECT_TRUE(contents() == Data); // from swap
  giveHost();
}

TEST_F(WriteBehindTest, NoMoreAreUnderWayThanHalfOfTransitMemory) {
  start(32 * MiB);
  ASSERT_OK(evict(0, 4));
  EXPECT_LE(parts->Writes.bytes(), 4 * MiB);
  EXPECT_EQ(parts->OnDevice.Pool.used(), 0u);
  EXPECT_LE(parts->Slabs.Pool.most(), 32 * MiB);
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, WhatIsNeededAgainComesFromTheHostCopy) {
  start(32 * MiB);
  gate.setOpen(false);
  ASSERT_OK(evict(0, 1));
  gate.waitForWrite();
  const ChunkUse use = useOfAll(*Chunks[0], LaunchNeed::Read);
  parts->Ctx.pins.next();
  ASSERT_OK(parts->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
  EXPECT_TRUE(Chunks[0]->copies.device);
  EXPECT_EQ(parts->Ctx.ledger.bytes(Direction::SwapToHost), 0u);
  gate.setOpen(true);
  // Pinned in this round: it keeps its host copy.
  ASSERT_OK(parts->Writes.finishAll());
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
    parts->Ctx.pins.next();
    ASSERT_OK(parts->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
    write(5, numbers(100, discards ? 3 : 4));
    if (discards) {
      ASSERT_OK(
          parts->Discarded.range(Chunks[1]->va(), Chunks[1]->used(), nullptr));
      EXPECT_FALSE(Chunks[1]->transit.writing);
    }
    write(Words, numbers(Words, discards ? 5 : 6));
    EXPECT_FALSE(Chunks[0]->transit.writing);
    EXPECT_FALSE(Chunks[0]->copies.storage);
    ASSERT_OK(parts->Writes.finishAll());
    EXPECT_TRUE(contents() == Data);
  }
  for (Chunk *chunk : Chunks) {
    const ChunkUse use = useOfAll(*chunk, LaunchNeed::Read);
    parts->Ctx.pins.next();
    ASSERT_OK(parts->Resident.bringIn({&use, 1}, nullptr, Cause::Demand));
  }
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, OnAFullDiskContentsStayInHostMemory) {
  start(32 * MiB);
  gate.fail(ENOSPC);
  ASSERT_OK(evict(0, 2));
  EXPECT_EQ(parts->Writes.finishAll().code(), DRAGON_ERROR_NO_SPACE);
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
    last = parts->Host.makeRoom(8 * MiB, true);
  EXPECT_EQ(last.code(), DRAGON_ERROR_NO_SPACE) << last.message();
  EXPECT_TRUE(contents() == Data);
  gate.fail(0);
  ASSERT_OK(evict(2, 2));
  ASSERT_OK(parts->Host.makeRoom(8 * MiB, true));
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindTest, TheBufferEndsMeanwhile) {
  start(32 * MiB);
  gate.setOpen(false);
  ASSERT_OK(evict(0, 2));
  gate.waitForWrite();
  gate.setOpen(true);
  ASSERT_OK(free(*Whole));
  EXPECT_TRUE(parts->Writes.writings().empty());
  EXPECT_EQ(parts->Writes.bytes(), 0u);
  EXPECT_EQ(parts->Slabs.Pool.used(), Others.size() * 2 * MiB);
  giveHost();
}

TEST_F(WriteBehindTest, HostCopiesAreWrittenSeveralAtATime) {
  start(32 * MiB);
  giveHost();
  // To the host, then there is no room for others.
  for (Chunk *chunk : Chunks) {
    parts->Ctx.pins.next();
    ASSERT_OK(parts->Resident.bringToHost(*chunk, LaunchNeed::Write,
                                          Cause::HostAccess));
    ASSERT_OK(parts->Data.wroteHost(*chunk));
    ASSERT_OK(parts->OnDevice.release(*chunk));
  }
  fillHost();
  gate.setOpen(false);
  parts->Ctx.pins.next();
  // Lent of what is kept for transit, there is room when the writes begin.
  ASSERT_OK(parts->Host.makeRoom(4 * MiB, false));
  gate.waitForWrite();
  EXPECT_EQ(parts->Writes.writings().size(), 2u);
  EXPECT_TRUE(
      parts->Slabs.Pool.hasRoom(4 * MiB, parts->Ctx.limits.transitBytes));
  EXPECT_TRUE(contents() == Data);
  gate.setOpen(true);
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

} // namespace
