//===- ReuseTest.cpp - what launches leave on the device for later ones ---===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class ReuseTest : public RuntimeFixture {
protected:
  static constexpr int N = 8 << 20; // 32 MiB
  static constexpr uint64_t Bytes = uint64_t(N) * 4;
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.deviceMemory = 16 * MiB;
    settings.hostMemory = 512 * MiB;
  }
};

TEST_F(ReuseTest, ASweepFindsWhatTheLastOneLeft) {
  start();
  uintptr_t a = allocate(Bytes), sums = allocate(Bytes);
  ASSERT_OK(upload(a, numbers(N, 1)));
  ASSERT_OK(
      kernels.launch(*runtime, "stencil", N, pointer(sums), pointer(a), N));
  // From here on one buffer of twice the budget is read and written.
  ASSERT_OK(kernels.launch(*runtime, "scale", N, pointer(a), N, 3));
  uint64_t before = moved(Direction::HostToDevice);
  constexpr int Sweeps = 6;
  for (int i = 0; i < Sweeps; ++i)
    ASSERT_OK(kernels.launch(*runtime, "scale", N, pointer(a), N, 3));
  // Each fetches what the device does not hold: half of it, and the slice or
  // two that had to make room for the first ones.
  uint64_t fetched = moved(Direction::HostToDevice) - before;
  EXPECT_LE(fetched, Sweeps * (Bytes / 2 + 4 * MiB));
  EXPECT_GE(fetched, Sweeps * Bytes / 2);
  EXPECT_GE(runtime->ledger().counter(Counter::ForeseenLaunches),
            uint64_t(Sweeps - 1));
}

TEST_F(ReuseTest, WhatIsNeededLastLeavesFirst) {
  // Two buffers in turn, each as large as the budget: with the least recently
  // used evicted, everything would move each time.
  constexpr int Half = N / 2; // 16 MiB
  start();
  uintptr_t a = allocate(Bytes / 2), b = allocate(Bytes / 2);
  ASSERT_OK(upload(a, numbers(Half, 1)));
  ASSERT_OK(upload(b, numbers(Half, 2)));
  auto both = [&] {
    ASSERT_OK(kernels.launch(*runtime, "scale", Half, pointer(a), Half, 3));
    ASSERT_OK(kernels.launch(*runtime, "scale", Half, pointer(b), Half, 3));
  };
  both();
  both();
  uint64_t before = moved(Direction::HostToDevice);
  constexpr int Rounds = 5;
  for (int i = 0; i < Rounds; ++i)
    both();
  uint64_t fetched = moved(Direction::HostToDevice) - before;
  // 32 MiB a round, of which 16 MiB could stay.
  EXPECT_LE(fetched, Rounds * (Bytes / 2 + 6 * MiB));
}

/// Nothing repeats itself, but the compiler has told: the buffer that is needed
/// last goes first, not the one that was used longest ago.
TEST_F(ReuseTest, AnnouncedUsesDecideWhereNothingIsKnown) {
  for (bool told : {false, true}) {
    SCOPED_TRACE(told);
    settings.deviceMemory = 8 * MiB;
    settings.hostMemory = 64 * MiB;
    start();
    constexpr int M = 1 << 20; // two chunks
    uintptr_t a = allocate(M * 4), b = allocate(M * 4), c = allocate(M * 4);
    ASSERT_OK(upload(a, numbers(M, 1)));
    ASSERT_OK(upload(b, numbers(M, 2)));
    ASSERT_OK(upload(c, numbers(M, 3)));
    auto scale = [&](uintptr_t buffer, int k) {
      ASSERT_OK(kernels.launch(*runtime, "scale", M, pointer(buffer), M, k));
    };
    // Something moves from here on.
    uintptr_t e = allocate(M * 4);
    ASSERT_OK(kernels.launch(*runtime, "iota", M, pointer(e), M, 2));
    if (told)
      ASSERT_OK(runtime->buffers().nextUse(e, RuntimeBuffers::NeverAgain));
    scale(a, 2);
    if (told)
      ASSERT_OK(runtime->buffers().nextUse(a, 2));
    scale(b, 2);
    if (told)
      ASSERT_OK(runtime->buffers().nextUse(b, RuntimeBuffers::NeverAgain));
    scale(c, 3); // has to evict a or b
    uint64_t before = moved(Direction::HostToDevice);
    ASSERT_OK(
        kernels.launch(*runtime, "stencil", M, pointer(c), pointer(a), M));
    EXPECT_EQ(moved(Direction::HostToDevice) - before, told ? 0 : 4 * MiB);
    auto expected = numbers(M, 1);
    EXPECT_EQ(download(a, M)[5], scaled(expected[5], 2));
    EXPECT_EQ(download(b, M)[7], scaled(numbers(M, 2)[7], 2));
  }
}

} // namespace
