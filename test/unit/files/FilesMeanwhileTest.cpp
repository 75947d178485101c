//===- FilesMeanwhileTest.cpp - files, while others read and write them ---===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads of storage and writes of evicted contents are under way when a file is
// mapped, taken away or written.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/files/FilesFixture.h"
#include "test/unit/support/memory/DirtyFixture.h"

#include <algorithm>
#include <cerrno>

using namespace dragon;
using namespace dragon::test;

namespace {

class ReadAheadFilesTest : public FilesFixture {
protected:
  void open(uint64_t hostMemory, size_t chunks) {
    settings.hostMemory = hostMemory;
    ASSERT_NO_FATAL_FAILURE(startParts(chunks));
    Data = numbers(chunks * Words, 9);
    writeFile("in", Data);
    ASSERT_OK(parts->Maps.mapRange(Whole->base, Whole->bytes,
                                   FolderFixture::open("in"), 0));
  }
};

TEST_F(ReadAheadFilesTest, otherStorageMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(parts->Reads.start(Chunks));
  auto other = numbers(Data.size(), 78);
  writeFile("other", other);
  const size_t begin = Words / 2, count = 2 * Words;
  ASSERT_OK(parts->Maps.mapRange(Whole->base + begin * 4, count * 4,
                                 FolderFixture::open("other"), 4096));
  std::copy_n(other.begin() + 1024, count, Data.begin() + long(begin));
  EXPECT_TRUE(contentsBroughtIn() == Data);
}

TEST_F(ReadAheadFilesTest, fileLeavesMeanwhile) {
  open(64 * MiB, 4);
  ASSERT_OK(parts->Reads.start(Chunks));
  auto file = FolderFixture::open("in");
  // The program is about to change the file: contents go to swap.
  ASSERT_OK(parts->Announced.detach(file->deviceId(), file->inode(), 0,
                                    INT64_MAX, nullptr, 0));
  writeFile("in", numbers(Data.size(), 4));
  EXPECT_TRUE(contentsBroughtIn() == Data);
}

class WriteBehindFilesTest : public DirtyFixture<FilesParts> {};

TEST_F(WriteBehindFilesTest, WhatCannotGoToItsFileGoesToSwap) {
  start(32 * MiB);
  auto out = open("out", true);
  ASSERT_OK(parts->Announced.set(Whole->base, Whole->bytes, out, 0, false));
  gate.fail(ENOSPC, 1);
  ASSERT_OK(evict(0, 1));
  ASSERT_OK(parts->Writes.finishAll());
  EXPECT_EQ(parts->Ctx.ledger.bytes(Direction::HostToFile), 0u);
  EXPECT_EQ(swapped(), 2 * MiB);
  EXPECT_TRUE(Chunks[0]->copies.storage);
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindFilesTest, WhoTakesTheFileWaitsForTheWrites) {
  start(32 * MiB);
  auto out = open("out", true);
  ASSERT_OK(parts->Announced.set(Whole->base, Whole->bytes, out, 0, false));
  ASSERT_OK(evict(0, 2));
  // The program writes the file by other means.
  ASSERT_OK(parts->Announced.detach(out->deviceId(), out->inode(), 0, INT64_MAX,
                                    nullptr, 0));
  for (const Writing &writing : parts->Writes.writings())
    EXPECT_NE(writing.plan.piece.file, out);
  writeFile("out", numbers(Data.size(), 1));
  EXPECT_TRUE(contents() == Data);
  giveHost();
}

TEST_F(WriteBehindFilesTest, WritingTheFileTakesWhatIsOnItsWay) {
  start(32 * MiB);
  auto out = open("out", true);
  ASSERT_OK(parts->Announced.set(Whole->base, Whole->bytes, out, 0, false));
  ASSERT_OK(evict(0, 2));
  size_t written = 0;
  ASSERT_OK(parts->Out.write(Whole->base, Whole->bytes, out, 0, written));
  EXPECT_EQ(written, Whole->bytes);
  EXPECT_TRUE(readFile("out") == Data);
  // Each byte once.
  EXPECT_EQ(parts->Ctx.ledger.bytes(Direction::HostToFile), Whole->bytes);
  EXPECT_EQ(swapped(), 0u);
  giveHost();
}

} // namespace
