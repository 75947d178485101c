//===- FootprintCacheTest.cpp - footprints that were evaluated before -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/FootprintCache.h"
#include "runtime/base/ThreadPool.h"
#include "test/unit/support/launch/CallFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class FootprintCacheTest : public CallFixture {
protected:
  static uint32_t first(const Call &call) {
    return call.call.kernel->record->FirstPointer;
  }
  static FootprintCache cacheFor(const Call &call, size_t mostRanges) {
    return {*call.call.kernel->summary, *call.call.kernel->record, mostRanges};
  }
};

TEST_F(FootprintCacheTest, AddressesDoNotMatter) {
  Buffer &a = add(8192), &b = add(4096), &c = add(4096);
  const Call one = make("add", 1, c.base, a.base, b.base, 64);
  const Call other = make("add", 1, b.base, c.base, a.base + 5000, 64);
  FootprintCache cache = cacheFor(one, 100);
  for (uint32_t i = 0; i < 3; ++i) {
    const auto found = cache.of(first(one) + i, dimsOf(one.call),
                                wholeGrid(one.call), EvalLimits{});
    EXPECT_EQ(found, cache.of(first(one) + i, dimsOf(other.call),
                              wholeGrid(other.call), EvalLimits{}));
    const ByteFootprint evaluated = evaluateFootprint(
        *one.call.kernel->summary, *one.call.kernel->record, first(one) + i,
        dimsOf(one.call), wholeGrid(one.call));
    ASSERT_EQ(found->MayRead.Ranges.size(), evaluated.MayRead.Ranges.size());
    ASSERT_EQ(found->MustWrite.Ranges.size(),
              evaluated.MustWrite.Ranges.size());
    EXPECT_EQ(found->Mode, evaluated.Mode);
  }
}

TEST_F(FootprintCacheTest, WhatTheFootprintDependsOnDoes) {
  Buffer &a = add(8192), &b = add(4096), &c = add(4096);
  const Call call = make("add", 2, c.base, a.base, b.base, 64);
  FootprintCache cache = cacheFor(call, 100);
  const uint32_t read = first(call) + 1;
  const BlockBox grid = wholeGrid(call.call);
  const auto end = [](const FootprintCache::Footprint &footprint) {
    return footprint->MayRead.Ranges.back().End;
  };
  EXPECT_EQ(end(cache.of(read, dimsOf(call.call), grid, {})), 256);
  // Fewer elements.
  const Call shorter = make("add", 2, c.base, a.base, b.base, 10);
  EXPECT_EQ(end(cache.of(read, dimsOf(shorter.call), grid, {})), 40);
  // A part of the grid.
  BlockBox part = grid;
  part.Hi[0] = 1;
  const auto whole = cache.of(read, dimsOf(call.call), grid, {});
  EXPECT_NE(cache.of(read, dimsOf(call.call), part, {}), whole);
  // Other blocks, another grid.
  LaunchDims dims = dimsOf(call.call);
  dims.Block[0] = 1;
  EXPECT_NE(cache.of(read, dims, grid, {}), whole);
  dims = dimsOf(call.call);
  ++dims.Grid[0];
  EXPECT_NE(cache.of(read, dims, grid, {}), whole);
  // What is asked for.
  EvalLimits limits;
  limits.WithMust = false;
  EXPECT_NE(cache.of(read, dimsOf(call.call), grid, limits), whole);
  limits = {};
  limits.MergeGap = 4095;
  EXPECT_NE(cache.of(read, dimsOf(call.call), grid, limits), whole);
  // Another pointer of the same launch.
  EXPECT_NE(cache.of(read + 1, dimsOf(call.call), grid, {}), whole);
}

TEST_F(FootprintCacheTest, EachRangeOfIterationsIsOneOfItsOwn) {
  Buffer &a = add(8192), &c = add(8192);
  const Call call = make("walk", 2, c.base, a.base, 1000); // 8 iterations
  FootprintCache cache = cacheFor(call, 100);
  const auto of = [&](uint32_t lo, uint32_t hi) {
    BlockBox box = wholeGrid(call.call);
    box.Lo[LoopDimension] = lo;
    box.Hi[LoopDimension] = hi;
    return cache.of(first(call) + 1, dimsOf(call.call), box, {});
  };
  for (unsigned again : {0, 1}) {
    SCOPED_TRACE(again);
    for (uint32_t i = 0; i < 8; ++i) {
      const auto found = of(i, i + 1);
      ASSERT_EQ(found->MayRead.Ranges.size(), 1u);
      EXPECT_EQ(found->MayRead.Ranges[0].Begin, 512 * i);
      EXPECT_EQ(found->MayRead.Ranges[0].End, std::min(512 * (i + 1), 4000u));
      EXPECT_EQ(of(i, i + 1), found);
    }
    EXPECT_EQ(of(0, 2)->MayRead.Ranges[0].End, 1024);
    EXPECT_EQ(of(0, 0)->MayRead.Ranges[0].End, 4000);
  }
}

TEST_F(FootprintCacheTest, WhatIsNotUsedIsForgotten) {
  Buffer &a = add(8192), &b = add(4096), &c = add(4096);
  const Call call = make("add", 1, c.base, a.base, b.base, 64);
  FootprintCache cache = cacheFor(call, 8);
  const auto at = [&](int elements) {
    const Call other = make("add", 1, c.base, a.base, b.base, elements);
    return cache.of(first(call) + 1, dimsOf(other.call), wholeGrid(other.call),
                    EvalLimits{});
  };
  const FootprintCache::Footprint used = at(1);
  const std::weak_ptr<const ByteFootprint> unused = at(2);
  for (int elements = 3; elements < 40; ++elements) {
    at(elements);
    EXPECT_EQ(at(1), used) << elements;
  }
  EXPECT_TRUE(unused.expired());
}

TEST_F(FootprintCacheTest, ThreadsShareIt) {
  Buffer &a = add(8192), &b = add(4096), &c = add(4096);
  const Call call = make("add", 1, c.base, a.base, b.base, 64);
  FootprintCache cache = cacheFor(call, 16);
  ThreadPool threads(4);
  std::vector<int64_t> ends(400);
  threads.forEach(ends.size(), ends.size(), [&](size_t i) {
    const Call own = make("add", 1, c.base, a.base, b.base, int(1 + i % 32));
    ends[i] = cache
                  .of(first(call) + 1, dimsOf(own.call), wholeGrid(own.call),
                      EvalLimits{})
                  ->MayRead.Ranges.back()
                  .End;
  });
  for (size_t i = 0; i < ends.size(); ++i)
    EXPECT_EQ(ends[i], int64_t(4 * (1 + i % 32)));
}

} // namespace
