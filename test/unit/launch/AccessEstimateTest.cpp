//===- AccessEstimateTest.cpp - how often a launch touches which chunk ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/AccessEstimate.h"
#include "runtime/launch/LinkCost.h"
#include "test/unit/support/launch/CallFixture.h"

#include <map>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int SampledThreads =
    64 * 64; ///< threads, 64 blocks of them: four chunks of words

class AccessEstimateTest : public CallFixture {
protected:
  using Bytes = std::map<const Chunk *, double>;
  Bytes estimate(const LaunchCall &call) {
    const ResolvedLaunch launch(call, Index);
    const LaunchFootprint whole = footprintOf(launch, Index, wholeGrid(call));
    const std::vector<double> bytes = estimateAccesses(launch, whole);
    EXPECT_EQ(bytes.size(), whole.uses.size());
    Bytes result;
    for (size_t i = 0; i < whole.uses.size(); ++i)
      result[whole.uses[i].chunk] = bytes[i];
    return result;
  }
  static void expectAll(const Bytes &found, const Buffer &buffer,
                        double bytes) {
    for (const Chunk &chunk : buffer.chunks) {
      ASSERT_TRUE(found.count(&chunk));
      EXPECT_DOUBLE_EQ(found.at(&chunk), bytes) << chunk.index;
    }
  }
};

/// c[i] = f(all of b), as the compiler describes it. `once`: f(one word of b).
class ReusingKernel {
public:
  explicit ReusingKernel(int64_t bytes, bool once = false) {
    ExprPool &e = Module.Exprs;
    const uint32_t index = e.binary(
        ExprOp::Add,
        e.binary(ExprOp::Mul, e.launchValue(ExprOp::BlockIdx, 0),
                 e.launchValue(ExprOp::BlockDim, 0),
                 NoSignedWrap | NoUnsignedWrap),
        e.launchValue(ExprOp::ThreadIdx, 0), NoSignedWrap | NoUnsignedWrap);
    AccessSummary own;
    own.Flags = AccessWrite | AccessExact;
    own.Width = 4;
    own.Offset = e.binary(ExprOp::Mul, e.cast(ExprOp::SExt, index, 64),
                          e.constant(4), NoSignedWrap);
    AccessSummary all;
    all.Flags = once ? AccessRead | AccessExact : AccessRead;
    all.Width = 4;
    all.Offset = e.opaque(64, e.constant(0), e.constant(bytes - 4));
    PointerSummary to, from;
    to.Flags = from.Flags = 0; // none escapes
    to.ArgIndex = 0;
    to.Mode = AccessMode::Write;
    to.Pattern = AccessPattern::Streaming;
    to.Accesses = {own};
    from.ArgIndex = 1;
    from.Mode = AccessMode::Read;
    from.Pattern = AccessPattern::Reused;
    from.Accesses = {all};
    KernelSummary kernel;
    kernel.Name = "reuse";
    kernel.Flags = KernelSliceable;
    kernel.ArgSizes = {8, 8};
    kernel.Pointers = {to, from};
    Module.Kernels.push_back(kernel);
    const std::vector<char> blob = Module.write();
    Aligned.resize((blob.size() + 7) / 8);
    std::memcpy(Aligned.data(), blob.data(), blob.size());
    std::string error;
    EXPECT_TRUE(SummaryView::open(Aligned.data(), blob.size(), View, error))
        << error;
    Info.summary = &View;
    Info.record = View.findKernel("reuse");
  }
  KernelInfo Info{};

private:
  ModuleSummary Module;
  std::vector<uint64_t> Aligned;
  SummaryView View;
};

TEST_F(AccessEstimateTest, WhatEachBlockReadsCountsForEachBlock) {
  Buffer &c = add(SampledThreads * 4), &b = add(3 * 4096);
  const ReusingKernel kernel(3 * 4096);
  Call call = make("add", SampledThreads / Threads, c.base, b.base);
  call.call.kernel = &kernel.Info;
  const Bytes found = estimate(call.call);
  expectAll(found, c, 4096); // in order, and once
  expectAll(found, b, 4096.0 * SampledThreads / Threads);
}

/// Blocks may touch all of it, and their threads touch a word each.
TEST_F(AccessEstimateTest, WhatThreadsAccessOnceIsNoMoreThanThatInAll) {
  constexpr int64_t Chunks = 8;
  Buffer &c = add(SampledThreads * 4), &b = add(Chunks * 4096);
  const ReusingKernel kernel(Chunks * 4096, true);
  Call call = make("add", SampledThreads / Threads, c.base, b.base);
  call.call.kernel = &kernel.Info;
  const Bytes found = estimate(call.call);
  expectAll(found, c, 4096);
  expectAll(found, b, AccessCounts::AccessBytes * SampledThreads / Chunks);
}

TEST_F(AccessEstimateTest, EachDimensionOfTheGridHasBlocks) {
  Buffer &c = add(SampledThreads * 4), &b = add(3 * 4096);
  const ReusingKernel kernel(3 * 4096);
  Call call = make("add", 3, c.base, b.base);
  call.call.kernel = &kernel.Info;
  call.call.grid[1] = 50;
  call.call.grid[2] = 7;
  expectAll(estimate(call.call), b, 4096.0 * 3 * 50 * 7);
}

/// Of no known pattern: as if they were here and there.
TEST_F(AccessEstimateTest, ReadsAndWritesAreAccesses) {
  Buffer &a = add(SampledThreads * 4), &b = add(SampledThreads * 4),
         &c = add(SampledThreads * 4);
  const Call sum = make("add", SampledThreads / Threads, c.base, a.base, b.base,
                        SampledThreads);
  Bytes found = estimate(sum.call);
  EXPECT_EQ(found.size(), 12u);
  for (const Buffer *buffer : {&a, &b, &c})
    expectAll(found, *buffer, ScatteredCost * 4096);
  const Call change =
      make("scale", SampledThreads / Threads, a.base, SampledThreads, 3);
  found = estimate(change.call);
  EXPECT_EQ(found.size(), 4u);
  expectAll(found, a, 2 * ScatteredCost * 4096);
  // Half of the threads do nothing.
  const Call half =
      make("scale", SampledThreads / Threads, a.base, SampledThreads / 2, 3);
  found = estimate(half.call);
  EXPECT_EQ(found.size(), 2u);
  EXPECT_DOUBLE_EQ(found.at(&a.chunks[0]), 2 * ScatteredCost * 4096);
}

/// An index that is data: each byte of the allocation, once.
TEST_F(AccessEstimateTest, OfWhatIsNotBoundedEachByteCountsOnce) {
  Buffer &a = add(2 * 4096), &c = add(SampledThreads * 4);
  Index.erase(a.base);
  Index.insert({a.base + 1024, 4096, 0, false, "", &a});
  const Call call = make("gather", SampledThreads / Threads, c.base,
                         a.base + 1024 + 64, SampledThreads, 3);
  const Bytes found = estimate(call.call);
  EXPECT_DOUBLE_EQ(found.at(&a.chunks[0]), ScatteredCost * (4096 - 1024));
  EXPECT_DOUBLE_EQ(found.at(&a.chunks[1]), ScatteredCost * 1024);
  expectAll(found, c, ScatteredCost * 4096);
}

TEST_F(AccessEstimateTest, WhatIsOutsideOfTheAllocationIsNotTouched) {
  Buffer &a = add(2 * 4096);
  Index.erase(a.base);
  Index.insert({a.base, 4096 + 400, 0, false, "", &a});
  const Call call =
      make("scale", SampledThreads / Threads, a.base, SampledThreads, 3);
  const Bytes found = estimate(call.call);
  EXPECT_DOUBLE_EQ(found.at(&a.chunks[0]), 2 * ScatteredCost * 4096);
  EXPECT_DOUBLE_EQ(found.at(&a.chunks[1]), 2 * ScatteredCost * 400);
}

TEST_F(AccessEstimateTest, WhatIsNotKnownAtAllMayBeReadAndWritten) {
  Buffer &a = add(4096 + 100), &b = add(4096);
  const Call call = make("mix", 1, a.base, 64, 3);
  const Bytes found = estimate(call.call);
  EXPECT_DOUBLE_EQ(found.at(&a.chunks[0]), 2 * ScatteredCost * 4096);
  EXPECT_DOUBLE_EQ(found.at(&a.chunks[1]), 2 * ScatteredCost * 100);
  expectAll(found, b, 2 * ScatteredCost * 4096);
}

} // namespace
