//===- HostMappedTest.cpp - launches that see host memory -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the cpu device, and on an asynchronous one: what stays in host memory, and
// that the results are the same.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <random>

using namespace dragon;
using namespace dragon::test;

namespace {

class HostMappedTest : public RuntimeFixture,
                       public testing::WithParamInterface<bool> {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.deviceMemory = 12 * MiB;
    settings.hostMemory = 16 * MiB; // beside it, most is in swap
  }
  void begin() {
    if (!GetParam())
      return start();
    settings.poison = false;
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    auto late = std::make_unique<LateDevice>(std::move(*device));
    Late = late.get();
    start(std::move(late));
  }
  void TearDown() override {
    if (Late)
      EXPECT_EQ(Late->misused(), 0u);
    RuntimeFixture::TearDown();
  }
  uint64_t count(Counter counter) { return runtime->ledger().counter(counter); }

  static constexpr int N = 4 << 20;
  LateDevice *Late = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Devices, HostMappedTest, testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "Late" : "Cpu";
                         });

TEST_P(HostMappedTest, WhatEverySliceReadsStaysInHostMemoryInPart) {
  begin();
  uintptr_t a = allocate(N * 4), b = allocate(BlendCount * 4),
            c = allocate(N * 4);
  auto x = numbers(N, 1), y = numbers(BlendCount, 2);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(upload(b, y));
  for (int round = 1; round <= 3; ++round) {
    const int k = 7919 * round;
    const uint64_t before = moved(Direction::HostToDevice);
    ASSERT_OK(kernels.launch(*runtime, "blend", N, pointer(c), pointer(a),
                             pointer(b), N, k));
    EXPECT_EQ(count(Counter::MixedLaunches), uint64_t(round));
    // a, and what of b is on the device, once; c comes not at all.
    EXPECT_LE(moved(Direction::HostToDevice) - before, (16 + 4) * MiB);
    auto z = download(c, N);
    for (int64_t i = 0; i < N; ++i)
      ASSERT_EQ(z[i], sum(x[i], y[(i * k) % BlendCount])) << i;
  }
  EXPECT_EQ(count(Counter::HostMappedLaunches), 0u);
  // All of it can be used in other ways afterwards.
  ASSERT_OK(
      kernels.launch(*runtime, "scale", BlendCount, pointer(b), BlendCount, 3));
  auto z = download(b, BlendCount);
  for (int i = 0; i < BlendCount; ++i)
    ASSERT_EQ(z[i], scaled(y[i], 3)) << i;
  EXPECT_TRUE(download(a, N) == x);
}

TEST_P(HostMappedTest, WhatEverySliceMayWriteIsThereAfterwards) {
  begin();
  uintptr_t a = allocate(N * 4), b = allocate(N * 4),
            c = allocate(BlendCount * 4);
  auto x = numbers(N, 1), y = numbers(N, 2), z = numbers(BlendCount, 3);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(upload(b, y));
  ASSERT_OK(upload(c, z));
  // Each element once.
  const int n = BlendCount - 4321, k = 7919;
  ASSERT_OK(kernels.launch(*runtime, "spread", n, pointer(c), pointer(a),
                           pointer(b), n, k));
  EXPECT_EQ(count(Counter::MixedLaunches), 1u);
  for (int64_t i = 0; i < n; ++i)
    z[(i * k) % BlendCount] = sum(x[i], y[i]);
  EXPECT_TRUE(download(c, BlendCount) == z);
  ASSERT_OK(
      kernels.launch(*runtime, "scale", BlendCount, pointer(c), BlendCount, 5));
  auto result = download(c, BlendCount);
  for (int i = 0; i < BlendCount; ++i)
    ASSERT_EQ(result[i], scaled(z[i], 5)) << i;
}

TEST_P(HostMappedTest, WhatAllBlocksReadIsOnTheDevice) {
  settings.hostMemory = 96 * MiB;
  begin();
  uintptr_t a = allocate(N * 4), b = allocate(BlendCount * 4),
            c = allocate(N * 4);
  auto x = numbers(N, 1), y = numbers(BlendCount, 2);
  ASSERT_OK(upload(a, x)); // is on the device, as far as it fits
  ASSERT_OK(upload(b, y));
  for (int round = 0; round < 3; ++round) {
    const uint64_t before = moved(Direction::HostToDevice);
    ASSERT_OK(kernels.launch(*runtime, "blend", N, pointer(c), pointer(a),
                             pointer(b), N, 7919));
    EXPECT_EQ(moved(Direction::HostToDevice) - before,
              round ? 0 : BlendCount * 4u);
  }
  // b takes the room; to read and write the others once is cheaper than to
  // read b over the link for each slice.
  EXPECT_EQ(count(Counter::HostMappedLaunches), 3u);
  auto z = download(c, N);
  for (int64_t i = 0; i < N; ++i)
    ASSERT_EQ(z[i], sum(x[i], y[(i * 7919) % BlendCount])) << i;
  EXPECT_TRUE(download(b, BlendCount) == y);
}

TEST_P(HostMappedTest, WhatIsSeenToBeAccessedMostComesToTheDevice) {
  settings.deviceMemory = 32 * MiB;
  settings.hostMemory = 128 * MiB;
  begin();
  // Of 48 MiB that may be read anywhere, the last 8 are.
  constexpr int Data = 12 << 20, Hot = 2 << 20, Threads = 1 << 20;
  uintptr_t data = allocate(size_t(Data) * 4), index = allocate(Threads * 4),
            out = allocate(Threads * 4);
  auto x = numbers(Data, 1);
  std::vector<int32_t> where(Threads);
  for (int64_t i = 0; i < Threads; ++i)
    where[i] = int32_t(Data - Hot + i * 7919 % Hot);
  ASSERT_OK(upload(data, x));
  ASSERT_OK(upload(index, where));
  uint64_t fetched[6];
  for (uint64_t &bytes : fetched) {
    const uint64_t before = moved(Direction::HostToDevice);
    ASSERT_OK(kernels.launch(*runtime, "hops", Threads, pointer(out),
                             pointer(data), pointer(index), Threads));
    bytes = moved(Direction::HostToDevice) - before;
    auto z = download(out, Threads);
    for (int i = 0; i < Threads; ++i)
      ASSERT_EQ(z[i], x[where[i]]) << i;
  }
  EXPECT_EQ(count(Counter::HostMappedLaunches), 6u);
  EXPECT_EQ(count(Counter::CountedLaunches), 3u); // the 1st, 2nd and 4th
  // As soon as it is known it comes, and then all is where it should be, but
  // for what has made room for counters.
  EXPECT_GE(fetched[0] + fetched[1], 8 * MiB);
  for (int i = 2; i < 6; ++i)
    EXPECT_LE(fetched[i], 2 * MiB) << i;
}

TEST_P(HostMappedTest, WhatCountsLeavesTheWholeBudgetToOthers) {
  settings.deviceMemory = 32 * MiB;
  settings.hostMemory = 128 * MiB;
  begin();
  constexpr int Data = 12 << 20, Threads = 1 << 20;
  uintptr_t data = allocate(size_t(Data) * 4), index = allocate(Threads * 4),
            out = allocate(Threads * 4);
  std::vector<int32_t> where(Threads, 5);
  ASSERT_OK(upload(index, where));
  ASSERT_OK(runtime->buffers().fill(pointer(data), 7, 4, Data, nullptr));
  ASSERT_OK(kernels.launch(*runtime, "hops", Threads, pointer(out),
                           pointer(data), pointer(index), Threads));
  EXPECT_EQ(count(Counter::CountedLaunches), 1u);
  // Blocks that depend on each other, with all there is: 32 MiB.
  ASSERT_OK(runtime->buffers().free(data));
  uintptr_t bins = allocate(32 * MiB - Threads * 4 - 4 * MiB);
  (void)bins;
  ASSERT_OK(kernels.launch(*runtime, "mix", 1 << 20, pointer(out), 1 << 20, 7));
  auto z = download(out, Threads);
  EXPECT_EQ(z[0], 7 + 7);
}

TEST_P(HostMappedTest, ChunksChangePlacesWhereBothSidesAreFull) {
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 8 * MiB; // of which 2 are for transit
  begin();
  const int counts[] = {1 << 20, 1 << 20, 3 << 19};
  std::vector<uintptr_t> buffers;
  std::vector<std::vector<int32_t>> models;
  for (int count : counts) {
    models.push_back(numbers(count, unsigned(models.size())));
    buffers.push_back(allocate(size_t(count) * 4));
    ASSERT_OK(upload(buffers.back(), models.back()));
  }
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    // What is where when all of it is needed is another thing each time.
    for (size_t steps = random() % 4; steps-- > 0;) {
      const size_t i = random() % 3;
      const int n = int(random() % size_t(counts[i])) + 1;
      ASSERT_OK(
          kernels.launch(*runtime, "scale", n, pointer(buffers[i]), n, 3));
      for (int k = 0; k < n; ++k)
        models[i][size_t(k)] = scaled(models[i][size_t(k)], 3);
    }
    if (const size_t i = random() % 3; random() % 2)
      EXPECT_TRUE(download(buffers[i], counts[i]) == models[i]);
    ASSERT_OK(
        kernels.launch(*runtime, "mix", 1000, pointer(buffers[0]), 1000, 0));
  }
  EXPECT_EQ(count(Counter::HostMappedLaunches), 100u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(download(buffers[i], counts[i]) == models[i]);
}

} // namespace
