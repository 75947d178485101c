//===- FetchAheadTest.cpp - contents for launches to come -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <chrono>
#include <thread>

using namespace dragon;
using namespace dragon::test;

namespace {

/// A sum is added to again and again, of inputs that do not all fit: a chunk
/// each, in a loop.
class FetchAheadTest : public RuntimeFixture {
protected:
  static constexpr int N = 1 << 18, Inputs = 12;
  static constexpr uint64_t InputBytes = N * 4;

  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.poison = settings.strict = false;
    settings.deviceMemory = 8 * MiB;
    settings.hostMemory = 64 * MiB;
    settings.chunkBytes = MiB;
    auto inner = makeDevice();
    ASSERT_TRUE(inner);
    auto late = std::make_unique<LateDevice>(std::move(inner));
    Watched = late.get();
    start(std::move(late));
    Sum = allocate(InputBytes);
    ASSERT_OK(upload(Sum, std::vector<int32_t>(N)));
    for (uint32_t i = 0; i < Inputs; ++i) {
      In.push_back(allocate(InputBytes));
      ASSERT_OK(upload(In[i], numbers(N, i)));
    }
  }
  /// Sum += input `first`, and so on. `waits`: after each the program waits.
  void round(bool waits, int first = 0, int step = 1) {
    for (int k = 0; k < Inputs; ++k) {
      const int i = (first + k * step) % Inputs;
      ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(Sum), pointer(Sum),
                               pointer(In[size_t(i)]), N));
      if (waits)
        ASSERT_OK(runtime->device().synchronizeAll());
      for (int32_t j = 0; j < N; ++j)
        Expected[size_t(j)] += uint32_t(Words[size_t(i)][size_t(j)]);
    }
  }
  uint64_t fetched() { return moved(Direction::HostToDevice) / InputBytes; }
  uint64_t ahead() {
    return runtime->ledger().bytes(Direction::HostToDevice, Cause::Prefetch) /
           InputBytes;
  }
  void check() {
    const std::vector<int32_t> sum = download(Sum, N);
    for (size_t j = 0; j < size_t(N); ++j)
      ASSERT_EQ(uint32_t(sum[j]), Expected[j]) << j;
    EXPECT_EQ(Watched->misused(), 0u);
  }

  const LateDevice *Watched = nullptr;
  uintptr_t Sum = 0;
  std::vector<uintptr_t> In;
  std::vector<std::vector<int32_t>> Words = [] {
    std::vector<std::vector<int32_t>> words;
    for (uint32_t i = 0; i < Inputs; ++i)
      words.push_back(numbers(N, i));
    return words;
  }();
  std::vector<uint32_t> Expected = std::vector<uint32_t>(N);
};

TEST_F(FetchAheadTest, WhatComesIsFetchedAndNoMoreThanThat) {
  for (int i = 0; i < 3; ++i)
    round(true);
  const uint64_t before = fetched(), aheadBefore = ahead();
  constexpr uint64_t Rounds = 6;
  for (uint64_t i = 0; i < Rounds; ++i)
    round(true);
  EXPECT_GT(ahead(), aheadBefore);
  // Of twelve, seven fit beside the sum; one of these may be in use, and the
  // next one is on its way.
  EXPECT_LE(fetched() - before, Rounds * 7);
  check();
}

/// While the device is behind, all that could leave is in use.
TEST_F(FetchAheadTest, NothingLeavesThatQueuedWorkUses) {
  for (int i = 0; i < 4; ++i)
    round(false);
  check();
}

TEST_F(FetchAheadTest, NothingIsLostWhereItIsWrong) {
  for (int i = 0; i < 3; ++i)
    round(true);
  round(true, 3, 5);
  round(true, 7, 11);
  round(true);
  round(false, 2, 7);
  check();
}

/// So many launches go round that what comes and goes is chosen; the program
/// does something else between them, and the rest is fetched meanwhile.
TEST_F(FetchAheadTest, WhatIsFetchedBetweenCallsIsNoMoreThanThat) {
  auto roundOfTwos = [this] {
    for (int i = 0; i < Inputs; ++i)
      for (int twice = 0; twice < 2; ++twice) {
        ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(Sum), pointer(Sum),
                                 pointer(In[size_t(i)]), N));
        ASSERT_OK(runtime->device().synchronizeAll());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        for (int32_t j = 0; j < N; ++j)
          Expected[size_t(j)] += uint32_t(Words[size_t(i)][size_t(j)]);
      }
  };
  for (int i = 0; i < 6; ++i)
    roundOfTwos();
  const uint64_t before = fetched();
  constexpr uint64_t Rounds = 6;
  for (uint64_t i = 0; i < Rounds; ++i)
    roundOfTwos();
  // Four chunks are kept for those that come, before the first round as well as
  // behind the last one.
  EXPECT_LE(fetched() - before, Rounds * 9 + 4);
  check();
}

/// All that could leave has been written.
TEST_F(FetchAheadTest, WhatWasWrittenIsCopiedOutAheadAndRoomIsThere) {
  ASSERT_OK(upload(Sum, std::vector<int32_t>(N, 1)));
  Expected.assign(N, 1);
  auto writeAll = [&] {
    for (size_t i = 0; i < size_t(Inputs); ++i) {
      ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(In[i]),
                               pointer(In[i]), pointer(Sum), N));
      ASSERT_OK(runtime->device().synchronizeAll());
    }
  };
  for (int i = 0; i < 3; ++i)
    writeAll();
  const uint64_t before = fetched(), aheadBefore = ahead(),
                 outBefore = moved(Direction::DeviceToHost);
  constexpr uint64_t Rounds = 6;
  for (uint64_t i = 0; i < Rounds; ++i)
    writeAll();
  EXPECT_GT(ahead(), aheadBefore);
  EXPECT_LE(fetched() - before, Rounds * 7);
  EXPECT_LE(moved(Direction::DeviceToHost) - outBefore,
            (Rounds * 7 + 1) * InputBytes);
  for (size_t i = 0; i < size_t(Inputs); ++i) {
    const std::vector<int32_t> input = download(In[i], N);
    for (size_t j = 0; j < size_t(N); ++j)
      ASSERT_EQ(uint32_t(input[j]), uint32_t(Words[i][j]) + 3 + Rounds) << j;
  }
  check();
}

} // namespace
