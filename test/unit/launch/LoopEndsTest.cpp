//===- LoopEndsTest.cpp - where the loops of launches end -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LoopEnds.h"

#include "dragon/SummaryBuilder.h"

#include <gtest/gtest.h>

using namespace dragon;

namespace {

/// A kernel that writes a[i] for i < n in one loop, and in a second one behind
/// it. Its argument 0 is n, 1 the pointer.
struct TwoLoops {
  TwoLoops() {
    ModuleSummary module;
    ExprPool &exprs = module.Exprs;
    PointerSummary pointer;
    pointer.ArgIndex = 1;
    pointer.Mode = AccessMode::Write;
    for (uint32_t number : {1u, 2u}) {
      const uint32_t i = exprs.loop(number);
      AccessSummary access;
      access.Offset =
          exprs.binary(ExprOp::Mul, i, exprs.constant(4), NoSignedWrap);
      access.Width = 4;
      access.Flags = AccessWrite | AccessExact;
      access.Guards = {{i, exprs.argument(0, 64), i, GuardPred::SLT, {}}};
      pointer.Accesses.push_back(access);
    }
    KernelSummary kernel;
    kernel.Name = "k";
    kernel.Flags = KernelSliceable;
    kernel.ArgSizes = {8, 8};
    kernel.LoopName = "copy";
    kernel.LoopNumbers = {1, 2};
    kernel.Pointers = {pointer};
    module.Kernels = {kernel};
    blob = module.write();
    std::string error;
    EXPECT_TRUE(SummaryView::open(blob.data(), blob.size(), view, error))
        << error;
    info.summary = &view;
    info.record = &view.kernel(0);
  }
  std::vector<char> blob;
  SummaryView view;
  KernelInfo info;
};

struct LoopEndsTest : testing::Test {
  std::array<uint32_t, MaxLoops> endsFor(const KernelInfo &kernel, int64_t n) {
    int64_t number = n;
    uintptr_t pointer = 0x1000;
    void *args[] = {&number, &pointer};
    LaunchCall call{};
    call.kernel = &kernel;
    for (unsigned d = 0; d < 3; ++d)
      call.grid[d] = call.block[d] = 1;
    call.args = args;
    call.numArgs = 2;
    Ends.find(call);
    return call.loopEnds;
  }
  LoopEnds Ends;
};

TEST_F(LoopEndsTest, EachEndsWhereItsArgumentsSay) {
  TwoLoops kernel;
  for (int64_t n : {10, 25, 10}) {
    const auto ends = endsFor(kernel.info, n);
    EXPECT_EQ(ends[0], n);
    EXPECT_EQ(ends[1], 2 * n);
  }
}

TEST_F(LoopEndsTest, AnotherKernelThatLiesThereHasItsOwn) {
  TwoLoops kernel, other;
  EXPECT_EQ(endsFor(kernel.info, 10)[1], 20u);
  KernelRecord single = *kernel.info.record;
  single.NumLoops = 1; // a copy without parameters for ends
  kernel.info.record = &single;
  EXPECT_EQ(endsFor(kernel.info, 10)[0], 0u);
  KernelRecord swapped = *other.info.record;
  swapped.LoopNumbers[1] = 7; // a loop that touches nothing: one iteration
  kernel.info.record = &swapped;
  EXPECT_EQ(endsFor(kernel.info, 10)[1], 11u);
}

} // namespace
