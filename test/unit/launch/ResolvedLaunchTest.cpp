//===- ResolvedLaunchTest.cpp - what the pointers of a launch are ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/ResolvedLaunch.h"
#include "test/unit/support/launch/CallFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class ResolvedLaunchTest : public CallFixture {};

TEST_F(ResolvedLaunchTest, PointersAreLookedUp) {
  Buffer &a = add(8192), &b = add(4096), &c = add(4096);
  const Call call = make("add", 1, c.base, a.base + 5000, b.end() - 1, 64);
  const ResolvedLaunch launch(call.call, Index);
  EXPECT_FALSE(launch.anything);
  ASSERT_EQ(launch.pointers.size(), 3u);
  EXPECT_EQ(launch.pointers[0].allocation, Index.find(c.base));
  EXPECT_TRUE(launch.pointers[0].mayWrite);
  EXPECT_EQ(launch.pointers[1].allocation, Index.find(a.base));
  EXPECT_EQ(launch.pointers[1].value, a.base + 5000);
  EXPECT_FALSE(launch.pointers[1].mayWrite);
  EXPECT_EQ(launch.pointers[2].allocation, Index.find(b.base));
  // By the record, not by their order alone.
  const KernelRecord &record = *call.call.kernel->record;
  for (uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(launch.pointers[i].index, record.FirstPointer + i);
}

TEST_F(ResolvedLaunchTest, AnEndBelongsToWhatItEndsUnlessAnotherBeginsThere) {
  Buffer &a = add(8192), &c = add(4096);
  {
    const Call call = make("stencil", 1, c.base, a.end(), 64);
    EXPECT_EQ(ResolvedLaunch(call.call, Index).pointers[1].allocation,
              Index.find(a.base));
  }
  Index.insert({a.end(), 4096, 0, false, "next", nullptr});
  {
    const Call call = make("stencil", 1, c.base, a.end(), 64);
    EXPECT_EQ(ResolvedLaunch(call.call, Index).pointers[1].allocation->name,
              "next");
  }
  const Call beyond = make("stencil", 1, c.base, c.end() + 1, 64);
  EXPECT_EQ(ResolvedLaunch(beyond.call, Index).pointers[1].allocation, nullptr);
}

TEST_F(ResolvedLaunchTest, MemoryOfOthersIsElsewhere) {
  Buffer &c = add(4096);
  const uintptr_t theirs = c.base + (uintptr_t(1) << 32);
  const Call call = make("add", 1, c.base, theirs, theirs + 8192, 64);
  EXPECT_FALSE(ResolvedLaunch(call.call, Index).pointers[1].elsewhere);
  Index.setOthers(
      [theirs](uintptr_t) -> AddressRange { return {theirs, theirs + 4096}; });
  ResolvedLaunch launch(call.call, Index);
  EXPECT_FALSE(launch.pointers[0].elsewhere);
  EXPECT_TRUE(launch.pointers[1].elsewhere);
  EXPECT_EQ(launch.pointers[1].allocation, nullptr);
  EXPECT_FALSE(launch.pointers[2].elsewhere);
  // What is not ours may be in one allocation.
  EXPECT_FALSE(launch.onDistinctAllocations());
  // In the same memory, with other pointers.
  const Call swapped = make("add", 1, c.base, theirs + 8192, theirs, 64);
  launch.resolve(swapped.call, Index);
  EXPECT_FALSE(launch.pointers[1].elsewhere);
  EXPECT_TRUE(launch.pointers[2].elsewhere);
  // It has become ours.
  Index.insert({theirs, 4096, 0, false, "theirs", &c});
  launch.resolve(swapped.call, Index);
  EXPECT_FALSE(launch.pointers[2].elsewhere);
  EXPECT_EQ(launch.pointers[2].allocation->name, "theirs");
}

TEST_F(ResolvedLaunchTest, NullIsNoPointer) {
  Buffer &c = add(4096);
  const Call call = make("add", 1, c.base, uintptr_t(0), uintptr_t(0), 64);
  EXPECT_EQ(ResolvedLaunch(call.call, Index).pointers.size(), 1u);
}

TEST_F(ResolvedLaunchTest, OfWhatIsNotKnownAnythingIsTouched) {
  Buffer &a = add(4096);
  Call known = make("scale", 1, a.base, 64, 3);
  EXPECT_FALSE(ResolvedLaunch(known.call, Index).anything);
  const Call mix = make("mix", 1, a.base, 64, 3);
  EXPECT_TRUE(ResolvedLaunch(mix.call, Index).anything);
  known.call.numArgs = 2; // not those that the record speaks of
  EXPECT_TRUE(ResolvedLaunch(known.call, Index).anything);
  known.call.numArgs = 3;
  KernelInfo info = *known.call.kernel;
  known.call.kernel = &info;
  info.record = nullptr;
  EXPECT_TRUE(ResolvedLaunch(known.call, Index).anything);
  info = *kernels.find("scale");
  info.summary = nullptr;
  const ResolvedLaunch launch(known.call, Index);
  EXPECT_TRUE(launch.anything);
  EXPECT_TRUE(launch.pointers.empty());
}

TEST_F(ResolvedLaunchTest, NothingIsLeftOfTheLaunchBefore) {
  Buffer &a = add(4096), &c = add(4096);
  ResolvedLaunch launch;
  const Call calls[] = {make("stencil", 3, c.base, a.base, 64),
                        make("mix", 1, a.base, 64, 3),
                        make("scale", 2, a.base, 64, 3)};
  for (const Call &call : calls) {
    launch.resolve(call.call, Index);
    const ResolvedLaunch anew(call.call, Index);
    EXPECT_EQ(launch.kernel, call.call.kernel);
    EXPECT_EQ(launch.grid[0], call.call.grid[0]);
    EXPECT_EQ(launch.anything, anew.anything);
    ASSERT_EQ(launch.pointers.size(), anew.pointers.size());
    for (size_t i = 0; i < anew.pointers.size(); ++i)
      EXPECT_EQ(launch.pointers[i].value, anew.pointers[i].value);
  }
}

TEST_F(ResolvedLaunchTest, ALaunchLikeTheOneBeforeFindsWhatIsThereNow) {
  Buffer &a = add(8192), &b = add(8192), &c = add(4096);
  const uintptr_t base = a.base;
  ResolvedLaunch launch;
  auto resolve = [&](uintptr_t to, uintptr_t x, uintptr_t y) {
    const Call call = make("add", 1, to, x, y, 64);
    launch.resolve(call.call, Index);
    const ResolvedLaunch anew(call.call, Index);
    ASSERT_EQ(launch.pointers.size(), anew.pointers.size());
    for (size_t i = 0; i < anew.pointers.size(); ++i) {
      EXPECT_EQ(launch.pointers[i].index, anew.pointers[i].index);
      EXPECT_EQ(launch.pointers[i].value, anew.pointers[i].value);
      EXPECT_EQ(launch.pointers[i].allocation, anew.pointers[i].allocation);
      EXPECT_EQ(launch.pointers[i].mayWrite, anew.pointers[i].mayWrite);
    }
  };
  resolve(c.base, base, b.base);
  resolve(c.base, base + 64, b.base);   // within
  resolve(c.base, b.base, base);        // in turns
  resolve(c.base, uintptr_t(0), base);  // one less
  resolve(c.base, b.base, base);        // and one more
  resolve(c.base, base + 8192, b.base); // an end
  resolve(c.base, b.base, base);
  Index.erase(base); // the same address, for something else
  resolve(c.base, b.base, base);
  Index.insert({base, 4096, 0, false, "other", nullptr});
  resolve(c.base, b.base, base);
  EXPECT_EQ(launch.pointers[2].allocation->name, "other");
  resolve(c.base, b.base, base + 4096); // no longer in it
}

TEST_F(ResolvedLaunchTest,
       AllocationsAreDistinctIfNoneIsWrittenThatAnotherReaches) {
  Buffer &a = add(8192), &b = add(4096), &c = add(4096);
  auto distinct = [&](uintptr_t to, uintptr_t x, uintptr_t y) {
    const Call call = make("add", 1, to, x, y, 64);
    return ResolvedLaunch(call.call, Index).onDistinctAllocations();
  };
  EXPECT_TRUE(distinct(c.base, a.base, b.base));
  // What is only read may be the same.
  EXPECT_TRUE(distinct(c.base, a.base, a.base + 4096));
  EXPECT_FALSE(distinct(a.base, a.base + 4096, b.base));
  EXPECT_FALSE(distinct(a.base, b.base, a.base));
  // Nothing is accessed through null.
  EXPECT_TRUE(distinct(c.base, 0, b.base));
  // Who knows what lies there.
  EXPECT_FALSE(distinct(c.base, a.base, 4096));
}

TEST_F(ResolvedLaunchTest, AnEndMayBelongToTwoAllocations) {
  Buffer &a = add(8192), &b = add(4096);
  Index.insert({a.end(), 4096, 0, false, "next", nullptr});
  auto distinct = [&](uintptr_t to, uintptr_t x, uintptr_t y) {
    const Call call = make("add", 1, to, x, y, 64);
    return ResolvedLaunch(call.call, Index).onDistinctAllocations();
  };
  EXPECT_FALSE(distinct(a.base, a.end(), b.base));
  EXPECT_FALSE(distinct(a.end(), b.base, a.base + 64));
  EXPECT_TRUE(distinct(a.base, a.end() + 1, b.base));
}

TEST_F(ResolvedLaunchTest, WhereAnythingIsTouchedNothingIsDistinct) {
  Buffer &a = add(4096);
  const Call mix = make("mix", 1, a.base, 64, 3);
  EXPECT_FALSE(ResolvedLaunch(mix.call, Index).onDistinctAllocations());
}

} // namespace
