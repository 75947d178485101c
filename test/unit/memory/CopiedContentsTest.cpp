//===- CopiedContentsTest.cpp - contents as the program copied them -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/CopiedContents.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <cstring>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

class CopiedContentsTest : public MemoryFixture {
protected:
  void SetUp() override {
    MemoryFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(startParts(16));
    parts->Time.Tracking = true;
  }
  AddressRange range(size_t begin, size_t end) const {
    return {Whole->base + begin, Whole->base + end};
  }
  /// The program copies bytes of this value there.
  void copy(size_t begin, size_t end, char value) {
    const std::vector<char> bytes(end - begin, value);
    ASSERT_OK(
        parts->Data.wroteDevice(*Chunks[begin / (2 * MiB)],
                                Chunks[begin / (2 * MiB)]->partOf(
                                    Whole->base + begin, Whole->base + end)));
    parts->Copied.copied(*Whole, range(begin, end), bytes.data());
  }
  /// What is known of there; 0: nothing.
  char known(size_t begin, size_t end) const {
    const char *found = parts->Copied.find(range(begin, end));
    for (size_t i = 1; found && i < end - begin; ++i)
      EXPECT_EQ(found[i], found[0]);
    return found ? found[0] : char(0);
  }
};

TEST_F(CopiedContentsTest, WhatNobodyHasReadIsNotKept) {
  copy(0, 64, 'a');
  EXPECT_EQ(known(0, 64), 0);
  parts->Copied.follow(range(8, 16));
  EXPECT_EQ(known(8, 16), 0) << "of a copy before that";
  EXPECT_TRUE(parts->Copied.isFollowed(range(0, 64)));
  EXPECT_FALSE(parts->Copied.isFollowed(range(16, 64)));
  copy(16, 64, 'b');
  EXPECT_EQ(known(16, 64), 0);
  copy(0, 64, 'c');
  EXPECT_EQ(known(0, 64), 'c');
  EXPECT_EQ(known(60, 64), 'c');
  EXPECT_EQ(known(60, 65), 0) << "it ends behind the copy";
}

TEST_F(CopiedContentsTest, ALaterWriteEndsIt) {
  parts->Copied.follow(range(0, 16));
  copy(0, 64, 'a');
  ASSERT_OK(parts->Data.wroteDevice(*Chunks[0], {63, 100}));
  EXPECT_EQ(known(0, 16), 0);
  // Somebody else remembers the same range after that.
  EXPECT_TRUE(parts->Data.isUnchanged(parts->Data.remember(range(0, 64))));
  EXPECT_EQ(known(0, 16), 0);
  copy(0, 64, 'b');
  EXPECT_EQ(known(0, 16), 'b');
  copy(0, 32, 'c');
  EXPECT_EQ(known(0, 16), 'c');
  EXPECT_EQ(known(0, 64), 0);
  ASSERT_OK(parts->Data.forget(*Chunks[0]));
  EXPECT_EQ(known(0, 16), 0);
}

TEST_F(CopiedContentsTest, WhatTheHostWritesWithoutACallIsNotKept) {
  parts->Copied.follow(range(0, 16));
  Whole->hostAccessible = true;
  copy(0, 64, 'a');
  Whole->hostAccessible = false;
  EXPECT_EQ(known(0, 16), 0);
  parts->Time.Tracking = false; // launches do not say what they write
  copy(0, 64, 'b');
  EXPECT_EQ(known(0, 16), 0);
}

TEST_F(CopiedContentsTest, LittleMemoryIsUsed) {
  parts->Copied.follow(range(0, Whole->bytes));
  EXPECT_FALSE(parts->Copied.isFollowed(range(0, 4 * MiB + 1)));
  for (size_t chunk = 0; chunk < Chunks.size(); ++chunk)
    copy(chunk * 2 * MiB, (chunk + 1) * 2 * MiB, char('a' + chunk));
  // The last 16 MiB.
  for (size_t chunk = 0; chunk < Chunks.size(); ++chunk)
    EXPECT_EQ(known(chunk * 2 * MiB, (chunk + 1) * 2 * MiB),
              chunk < 8 ? 0 : char('a' + chunk));
}

} // namespace
