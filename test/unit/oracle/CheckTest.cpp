//===- CheckTest.cpp - what a check finds, and what it does not -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Check.h"
#include "dragon/CompilerABI.h"
#include "dragon/dragon.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::oracle;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace {

const dragon_reason Early{"Discarded", {"d_a", "a.cu", 41, 3}};
const dragon_reason ReadOnly{"MappedReadOnly", {"d_a", "a.cu", 7, 3}};

/// A buffer of two pages, whose contents the test itself moves about.
class CheckTest : public testing::Test {
protected:
  static constexpr size_t Bytes = 2 * PageBytes;

  CheckTest()
      : Check([this](const std::string &line) { Lines.push_back(line); },
              /*quiet=*/true) {
    allocate(0, nullptr);
  }
  void allocate(unsigned flags, const dragon_reason *why) {
    Check.allocated({range(), "d_a", flags, false, why});
  }
  uintptr_t base() const { return reinterpret_cast<uintptr_t>(Memory); }
  AddressRange range(size_t begin = 0, size_t end = Bytes) const {
    return {base() + begin, base() + end};
  }

  struct Access {
    uint32_t kind;
    size_t begin;
    size_t end;
    unsigned char value = 0;
  };
  static Access read(size_t begin, size_t end) {
    return {DRAGON_CPU_READ, begin, end};
  }
  static Access write(size_t begin, size_t end, unsigned char value) {
    return {DRAGON_CPU_WRITE, begin, end, value};
  }
  void launch(uint64_t number, const char *kernel,
              const std::vector<Access> &accesses,
              const ObservedBlocks *announced = nullptr) {
    ObservedBlocks all;
    all.may = all.mayWrite = {range()};
    Check.launchBegins(kernel, number);
    Check.blocksRun(announced ? *announced : all, {});
    AccessSink &sink = Check.sink();
    sink.blockBegins(1);
    for (const Access &access : accesses) {
      sink.access(base() + access.begin, access.end - access.begin,
                  access.kind);
      if (access.kind == DRAGON_CPU_WRITE)
        std::memset(Memory + access.begin, access.value,
                    access.end - access.begin);
    }
    sink.blocksEnd(true);
    Check.launchEnds();
  }

  alignas(PageBytes) unsigned char Memory[Bytes] = {};
  std::vector<std::string> Lines;
  oracle::Check Check;
};

TEST_F(CheckTest, WhatIsThereIsRight) {
  launch(1, "init", {write(0, Bytes, 1)});
  launch(2, "use", {read(0, Bytes), write(8, 16, 2)});
  Check.hostRead(range(), HostAccess::Copy, Memory);
  EXPECT_THAT(Lines, IsEmpty());
  EXPECT_EQ(Check.verdict(), 0);
}

TEST_F(CheckTest, WhatIsLostIsTold) {
  launch(1, "init", {write(0, Bytes, 1)});
  std::memset(Memory + 4090, 9, 10);
  launch(2, "use", {read(0, 64), read(4000, 4200)});
  EXPECT_THAT(Lines, ElementsAre("check: kernel 'use' (launch 2) reads bytes "
                                 "4090-4099 of 'd_a' that are not what they "
                                 "were: last written by 'init' (launch 1)"));
  EXPECT_EQ(Check.verdict(), CheckFailedStatus);
}

TEST_F(CheckTest, WhatIsLostAndNotReadIsNot) {
  launch(1, "init", {write(0, Bytes, 1)});
  std::memset(Memory, 9, 64);
  launch(2, "use", {read(64, Bytes), write(0, 64, 3), read(0, 64)});
  EXPECT_THAT(Lines, IsEmpty());
}

TEST_F(CheckTest, WhatHasEndedIsToldThoughItIsStillThere) {
  launch(1, "init", {write(0, Bytes, 1)});
  Check.discarded({range(), 1, &Early});
  launch(2, "border", {write(8, Bytes, 2), read(0, Bytes)});
  launch(3, "border", {read(0, Bytes)}); // once is enough
  EXPECT_THAT(Lines,
              ElementsAre("check: kernel 'border' (launch 2) reads bytes 0-7 "
                          "of 'd_a' that a directive ended: 'Discarded' at "
                          "a.cu:41 on 'd_a'; last written by 'init' (launch "
                          "1)"));
}

TEST_F(CheckTest, WhatHasEndedMayBeOverwritten) {
  launch(1, "init", {write(0, Bytes, 1)});
  Check.discarded({range(), 1, &Early});
  std::memset(Memory, 0xA5, Bytes);
  launch(2, "init", {write(0, Bytes, 2)});
  launch(3, "use", {read(0, Bytes)});
  Check.discarded({range(0, PageBytes), 3, &Early});
  Check.filled(range(0, PageBytes), 0x01020304, 4);
  for (size_t i = 0; i < PageBytes; ++i)
    Memory[i] = static_cast<unsigned char>(4 - i % 4);
  Check.hostRead(range(), HostAccess::Copy, Memory);
  EXPECT_THAT(Lines, IsEmpty());
}

TEST_F(CheckTest, WhatTheProgramDiscardsIsUndefined) {
  launch(1, "init", {write(0, Bytes, 1)});
  Check.discarded({range(), 1, nullptr});
  std::memset(Memory, 0xA5, Bytes);
  launch(2, "use", {read(0, Bytes)});
  EXPECT_THAT(Lines, IsEmpty());
}

TEST_F(CheckTest, AnEndIsThatOfItsLaunchWheneverItIsTold) {
  launch(1, "init", {write(0, Bytes, 1)});
  // Launches 2 and 3 run together, in slices.
  Check.discarded({range(), 2, &Early});
  launch(2, "use", {read(0, PageBytes)});
  launch(3, "init", {write(0, PageBytes, 2)});
  launch(2, "use", {read(PageBytes, Bytes)});
  launch(3, "again", {read(PageBytes, Bytes)});
  EXPECT_THAT(Lines, ElementsAre(HasSubstr("kernel 'again' (launch 3) reads "
                                           "bytes 4096-8191 of 'd_a' that a "
                                           "directive ended")));
}

TEST_F(CheckTest, TheOrderOfLaunchesThatRunTogether) {
  launch(1, "init", {write(0, Bytes, 1)});
  launch(3, "third", {write(0, 64, 3), read(128, 192)});
  launch(2, "second", {read(0, 64), write(128, 192, 2)});
  EXPECT_THAT(Lines, UnorderedElementsAre(
                         HasSubstr("kernel 'second' (launch 2) touches bytes "
                                   "0-63 of 'd_a' in the wrong order: 'third' "
                                   "(launch 3), which comes later, has "
                                   "written them"),
                         HasSubstr("bytes 128-191 of 'd_a' in the wrong "
                                   "order: 'third' (launch 3), which comes "
                                   "later, has read them")));
}

TEST_F(CheckTest, WhatIsAnnounced) {
  ObservedBlocks blocks;
  blocks.may = {range(0, 64)};
  blocks.mayWrite = {range(32, 64)};
  blocks.must = {range(48, 64)};
  launch(1, "k", {read(0, 32), write(32, 64, 1)}, &blocks);
  EXPECT_THAT(Lines, IsEmpty());
  launch(2, "k", {read(52, 56), write(30, 60, 1), read(64, 65)}, &blocks);
  EXPECT_THAT(
      Lines,
      ElementsAre(HasSubstr("reads bytes 64-64 of 'd_a', which its summary "
                            "does not announce"),
                  HasSubstr("writes bytes 30-31 of 'd_a', which its summary "
                            "announces as only read"),
                  HasSubstr("does not write bytes 60-63 of 'd_a', which its "
                            "summary announces as overwritten"),
                  HasSubstr("reads bytes 52-55 of 'd_a' before it writes "
                            "them")));
}

TEST_F(CheckTest, ABufferThatIsReadOnlyIsWritten) {
  Check.freed(range());
  allocate(D_READ, &ReadOnly);
  Check.hostWrote(range(), HostAccess::Copy, Memory);
  launch(1, "use", {read(0, Bytes)});
  EXPECT_THAT(Lines, IsEmpty());
  launch(2, "use", {write(0, 4, 1)});
  EXPECT_THAT(Lines, ElementsAre(HasSubstr("'MappedReadOnly' at a.cu:7")));
}

TEST_F(CheckTest, ABufferBesideOneThatIsReadOnlyIsWritten) {
  Check.freed(range());
  Check.allocated({range(0, 512), "d_a", D_READ, false, &ReadOnly});
  Check.allocated({range(1024, 1536), "d_b", D_WRITE, false, &Early});
  Check.allocated({range(2048, 2560), "d_c", D_READ, false, &ReadOnly});
  launch(1, "set", {write(1024, 1536, 5)});
  EXPECT_THAT(Lines, IsEmpty());
  launch(2, "set", {write(2048, 2052, 5)});
  EXPECT_THAT(Lines, ElementsAre(HasSubstr("writes bytes 0-3 of 'd_c'")));
}

TEST_F(CheckTest, VariablesOfTheDeviceAreNoHostMemory) {
  Check.freed(range());
  allocate(D_VOLATILE, &Early);
  Check.hostWrote(range(), HostAccess::Variable, Memory);
  Check.hostRead(range(), HostAccess::Variable, Memory);
  EXPECT_THAT(Lines, IsEmpty());
  Check.hostRead(range(), HostAccess::Copy, Memory);
  EXPECT_THAT(Lines, ElementsAre(HasSubstr("keeps from being copied out")));
}

TEST_F(CheckTest, WhatIsWrittenUnseenIsWhatItsFirstReaderFinds) {
  Check.hostWrote(range(), HostAccess::File, nullptr);
  std::memset(Memory, 7, Bytes);
  launch(1, "use", {read(0, Bytes)});
  EXPECT_THAT(Lines, IsEmpty());
  Memory[100] = 8;
  launch(2, "use", {read(0, Bytes)});
  EXPECT_THAT(Lines, ElementsAre(HasSubstr("bytes 100-100 of 'd_a' that are "
                                           "not what they were: last written "
                                           "by a file that was mapped")));
}

TEST_F(CheckTest, CopiesBetweenBuffers) {
  launch(1, "init", {write(0, 5000, 1)});
  std::memmove(Memory + 1000, Memory, 5000);
  Check.copied(base() + 1000, base(), 5000); // they overlap
  launch(2, "use", {read(0, 6000)});
  EXPECT_THAT(Lines, IsEmpty());
  Memory[5999] = 2;
  Check.hostRead(range(), HostAccess::File, Memory);
  EXPECT_THAT(Lines, ElementsAre(HasSubstr("a write to a file reads bytes "
                                           "5999-5999 of 'd_a' that are not "
                                           "what they were: last written by a "
                                           "copy between buffers")));
}

TEST_F(CheckTest, WhatOthersWorkOnIsNotJudged) {
  launch(1, "init", {write(0, Bytes, 1)});
  Check.unseen(range());
  std::memset(Memory, 9, Bytes);
  launch(2, "use", {read(0, Bytes)});
  Check.hostRead(range(), HostAccess::Copy, Memory);
  EXPECT_THAT(Lines, IsEmpty());
}

TEST_F(CheckTest, LinesAreFew) {
  Check.freed(range());
  for (unsigned i = 0; i < 40; ++i) {
    Check.allocated({range(), "d_" + std::to_string(i), 0, false, nullptr});
    launch(2 * i + 1, "init", {write(0, 64, 1)});
    std::memset(Memory, 9, 64);
    launch(2 * i + 2, "use", {read(0, 64)});
    Check.freed(range());
  }
  EXPECT_EQ(Lines.size(), size_t(CheckReport::MostLines));
  Check.verdict();
  EXPECT_THAT(Lines.back(), HasSubstr("40 things are wrong in 80 launches"));
}

} // namespace
