//===- RuntimeTest.cpp - launches in and out of core ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"

#include <atomic>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

class RuntimeTest : public RuntimeFixture {};

TEST_F(RuntimeTest, InCoreNothingMovesButTheProgramsCopies) {
  start();
  constexpr int N = 1 << 20; // 4 MiB each
  uintptr_t a = allocate(N * 4), b = allocate(N * 4), c = allocate(N * 4);
  auto x = numbers(N, 1), y = numbers(N, 2);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(upload(b, y));
  ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(c), pointer(a),
                           pointer(b), N));
  auto z = download(c, N);
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], sum(x[i], y[i])) << i;
  EXPECT_EQ(moved(Direction::HostToDevice), 8 * MiB);
  EXPECT_EQ(moved(Direction::DeviceToHost), 4 * MiB);
  EXPECT_EQ(runtime->ledger().counter(Counter::Evictions), 0u);
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 0u);
  EXPECT_OK(runtime->buffers().free(a));
  EXPECT_OK(runtime->buffers().free(b));
  EXPECT_OK(runtime->buffers().free(c));
}

TEST_F(RuntimeTest, ChangesAreToldToWhoWantsToHear) {
  start();
  constexpr int N = 1 << 20;
  uintptr_t a = allocate(N * 4), b = allocate(N * 4), c = allocate(N * 4);
  std::vector<AddressRange> heard;
  std::atomic<bool> wanted{false};
  runtime->launches().setBeforeWrite(
      [](void *context, uintptr_t begin, uintptr_t end) {
        static_cast<std::vector<AddressRange> *>(context)->push_back(
            {begin, end});
      },
      &heard, &wanted);
  auto run = [&] {
    ASSERT_OK(upload(a, numbers(N, 1)));
    ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(c), pointer(a),
                             pointer(b), N));
  };
  run();
  EXPECT_TRUE(heard.empty());
  wanted = true;
  run();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].begin, a);
  EXPECT_EQ(heard[1].begin, c);
  EXPECT_EQ(heard[1].end, c + N * 4);
  wanted = false;
  run();
  EXPECT_EQ(heard.size(), 2u);
}

TEST_F(RuntimeTest, FromFilesToAFileEachByteMovesOnce) {
  // 3 x 32 MiB over 8 MiB of device and 16 MiB of host memory.
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 16 * MiB;
  start();
  constexpr int N = 8 << 20;
  constexpr uint64_t Bytes = uint64_t(N) * 4;
  auto x = numbers(N, 1), y = numbers(N, 2);
  writeFile("a", x);
  writeFile("b", y);
  uintptr_t a = allocate(Bytes, D_READ), b = allocate(Bytes, D_READ);
  uintptr_t c = allocate(Bytes, D_WRITE);
  ASSERT_OK(runtime->files().mapFileRange(a, Bytes, open("a"), 0));
  ASSERT_OK(runtime->files().mapFileRange(b, Bytes, open("b"), 0));
  auto out = open("c", true);
  ASSERT_OK(runtime->files().setSink(c, Bytes, out, 0));
  ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(c), pointer(a),
                           pointer(b), N));
  size_t written = 0;
  ASSERT_OK(runtime->files().writeToFile(c, Bytes, out, 0, written));
  EXPECT_EQ(written, Bytes);
  auto z = readFile("c");
  ASSERT_EQ(z.size(), size_t(N));
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], sum(x[i], y[i])) << i;
  EXPECT_EQ(moved(Direction::FileToHost), 2 * Bytes);
  EXPECT_EQ(moved(Direction::HostToDevice), 2 * Bytes);
  EXPECT_EQ(moved(Direction::DeviceToHost), Bytes);
  EXPECT_EQ(moved(Direction::HostToFile), Bytes);
  EXPECT_EQ(moved(Direction::HostToSwap), 0u);
  EXPECT_EQ(moved(Direction::SwapToHost), 0u);
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 1u);
  EXPECT_GT(runtime->ledger().avoided(Avoided::ReadOnly), 0u);
}

/// As a model is loaded: tensor after tensor, of which many end in a chunk.
TEST_F(RuntimeTest, ThingsSideBySideInAChunkComeOnce) {
  settings.chunkBytes = MiB;
  start();
  constexpr int N = 2 << 20;
  constexpr uint64_t Bytes = uint64_t(N) * 4, Part = 5 * Bytes / 64;
  auto x = numbers(N, 1);
  writeFile("a", x);
  uintptr_t a = allocate(Bytes), c = allocate(Bytes);
  for (uint64_t at = 0; at < Bytes; at += Part) {
    const uint64_t bytes = std::min(Part, Bytes - at);
    ASSERT_OK(
        runtime->files().mapFileRange(a + at, bytes, open("a"), int64_t(at)));
    ASSERT_OK(runtime->buffers().prefetchInCore(a + at, bytes, nullptr));
    // Nothing waits that is complete.
    EXPECT_GE(moved(Direction::HostToDevice) + MiB, at + bytes);
  }
  EXPECT_EQ(moved(Direction::FileToHost), Bytes);
  ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(c), pointer(a),
                           pointer(a), N));
  EXPECT_EQ(moved(Direction::HostToDevice), Bytes);
  auto z = download(c, N);
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], sum(x[i], x[i])) << i;
}

TEST_F(RuntimeTest, WhatIsReadAgainIsKeptInHostMemory) {
  // 2 x 16 MiB over 8 MiB of device memory; the host has room for both.
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 64 * MiB;
  start();
  constexpr int N = 4 << 20;
  constexpr uint64_t Bytes = uint64_t(N) * 4;
  auto x = numbers(N, 1);
  writeFile("a", x);
  uintptr_t a = allocate(Bytes, D_READ), c = allocate(Bytes);
  ASSERT_OK(runtime->files().mapFileRange(a, Bytes, open("a"), 0));
  for (int round = 0; round < 4; ++round)
    ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(c), pointer(a),
                             pointer(a), N));
  auto z = download(c, N);
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], sum(x[i], x[i])) << i;
  EXPECT_LE(moved(Direction::FileToHost), 2 * Bytes);
  EXPECT_GT(moved(Direction::FileToHost), Bytes);
  EXPECT_EQ(moved(Direction::HostToSwap), 0u);
}

TEST_F(RuntimeTest, ThroughSwapNothingIsLost) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 8 * MiB;
  start();
  constexpr int N = 4 << 20; // 16 MiB each
  uintptr_t a = allocate(N * 4), b = allocate(N * 4), c = allocate(N * 4);
  auto x = numbers(N, 1), y = numbers(N, 2);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(upload(b, y));
  ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(c), pointer(a),
                           pointer(b), N));
  ASSERT_OK(kernels.launch(*runtime, "scale", N, pointer(c), N, 3));
  ASSERT_OK(kernels.launch(*runtime, "stencil", N, pointer(a), pointer(c), N));
  auto z = download(c, N);
  auto s = download(a, N);
  std::vector<int32_t> expected(N);
  for (int i = 0; i < N; ++i)
    expected[i] = scaled(sum(x[i], y[i]), 3);
  for (int i = 0; i < N; ++i) {
    ASSERT_EQ(z[i], expected[i]) << i;
    ASSERT_EQ(s[i], sum(sum(expected[std::max(i - 1, 0)], expected[i]),
                        expected[std::min(i + 1, N - 1)]))
        << i;
  }
  EXPECT_GT(moved(Direction::HostToSwap), 0u);
}

TEST_F(RuntimeTest, WhatIsOnlyReadNeverComesBack) {
  // 3 x 8 MiB over 8 MiB of device memory.
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 64 * MiB;
  start();
  constexpr int N = 2 << 20;
  uintptr_t a = allocate(N * 4, D_READ), b = allocate(N * 4, D_READ);
  uintptr_t c = allocate(N * 4);
  for (int round = 0; round < 2; ++round) {
    auto x = numbers(N, 1 + round), y = numbers(N, 3 + round);
    ASSERT_OK(runtime->buffers().copy(reinterpret_cast<void *>(a), x.data(),
                                      N * 4, nullptr, false,
                                      /*pageable=*/true));
    ASSERT_OK(runtime->buffers().copy(reinterpret_cast<void *>(b), y.data(),
                                      N * 4, nullptr, false,
                                      /*pageable=*/true));
    ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(c), pointer(a),
                             pointer(b), N));
    auto z = download(c, N);
    for (int i = 0; i < N; ++i)
      ASSERT_EQ(z[i], sum(x[i], y[i])) << i;
  }
  // c alone, evicted or copied out.
  EXPECT_LE(moved(Direction::DeviceToHost), 2 * 8 * MiB);
  EXPECT_EQ(moved(Direction::HostToDevice), 2 * 16 * MiB);
}

TEST_F(RuntimeTest, WhatHoldsNothingMakesRoomForACopy) {
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 64 * MiB;
  start();
  constexpr int N = 2 << 20;
  uintptr_t a = allocate(N * 4), b = allocate(N * 4);
  auto x = numbers(N, 1);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(runtime->buffers().discard(a, N * 4, nullptr));
  ASSERT_OK(upload(b, x));
  EXPECT_EQ(moved(Direction::HostToDevice), 2 * 8 * MiB);
  EXPECT_EQ(moved(Direction::DeviceToHost), 0u);
  EXPECT_EQ(download(b, N), x);
}

TEST_F(RuntimeTest, AnEagerDiscardGivesMemoryBack) {
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 12 * MiB;
  start();
  constexpr int N = 1 << 20; // two chunks
  constexpr size_t Bytes = N * 4;
  std::vector<uintptr_t> buffers;
  for (uint32_t i = 0; i < 6; ++i) {
    buffers.push_back(allocate(Bytes));
    ASSERT_OK(upload(buffers.back(), numbers(N, i)));
    ASSERT_OK(
        kernels.launch(*runtime, "scale", N, pointer(buffers.back()), N, 2));
  }
  EXPECT_GE(runtime->buffers().memoryInUse().swap, Bytes);
  auto use = [&] {
    MemoryInUse now = runtime->buffers().memoryInUse();
    return now.device + now.host + now.swap;
  };
  // Lazily: whoever wants the memory gets it then.
  uint64_t before = use();
  ASSERT_OK(runtime->buffers().discard(buffers[5], Bytes, nullptr));
  EXPECT_EQ(use(), before);
  for (int i : {5, 4, 1, 0}) { // on the device, on the host, in swap
    before = use();
    ASSERT_OK(
        runtime->buffers().discard(buffers[size_t(i)], Bytes, nullptr, true));
    EXPECT_LE(use(), before - Bytes) << i;
  }
  // They are as good as new.
  for (uint32_t i : {5, 4, 1, 0}) {
    auto x = numbers(N, 10 + i);
    ASSERT_OK(upload(buffers[i], x));
    EXPECT_EQ(download(buffers[i], N), x);
    ASSERT_OK(
        kernels.launch(*runtime, "iota", N, pointer(buffers[i]), N, int(i)));
    auto z = download(buffers[i], N);
    for (int k = 0; k < N; ++k)
      ASSERT_EQ(z[size_t(k)], scaled(k, int32_t(i)));
  }
}

TEST_F(RuntimeTest, UploadsLeaveRoomForWhatComesWithThem) {
  settings.deviceMemory = 16 * MiB;
  settings.hostMemory = 64 * MiB;
  start();
  constexpr int N = 3 << 20; // of three, not all fit
  const uintptr_t a = allocate(N * 4), b = allocate(N * 4);
  const auto x = numbers(N, 1), y = numbers(N, 2);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(upload(b, y));
  const uintptr_t c = allocate(N * 4);
  auto in = [&] { return runtime->ledger().bytes(Direction::HostToDevice); };
  EXPECT_EQ(in(), 16 * MiB) << "nothing says yet that there is more";
  ASSERT_OK(upload(c, y)); // nowhere but to the host
  EXPECT_EQ(in(), 16 * MiB);
  ASSERT_OK(runtime->buffers().free(a));
  ASSERT_OK(runtime->buffers().free(b));
  const uintptr_t d = allocate(N * 4), e = allocate(N * 4);
  ASSERT_OK(runtime->buffers().copy(pointer(d), x.data(), N * 4, nullptr, false,
                                    true));
  EXPECT_EQ(in(), 24 * MiB) << "half of the device";
  // A launch that brings as much moves none of it away.
  ASSERT_OK(kernels.launch(*runtime, "iota", 1 << 20, pointer(e), 1 << 20, 3));
  EXPECT_EQ(runtime->ledger().bytes(Direction::DeviceToHost), 0u);
  EXPECT_EQ(download(d, N), x);
  EXPECT_EQ(download(c, N), y);
}

TEST_F(RuntimeTest, WhatIsOverwrittenIsNotFetched) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 64 * MiB;
  start();
  constexpr int N = 4 << 20;
  uintptr_t a = allocate(N * 4);
  ASSERT_OK(upload(a, numbers(N, 1)));
  uint64_t before = moved(Direction::HostToDevice);
  ASSERT_OK(kernels.launch(*runtime, "iota", N, pointer(a), N, 5));
  EXPECT_EQ(moved(Direction::HostToDevice), before);
  EXPECT_GT(runtime->ledger().avoided(Avoided::WriteOnly), 0u);
  auto z = download(a, N);
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], scaled(i, 5));
}

TEST_F(RuntimeTest, APartThatIsNotOverwrittenIsKept) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 8 * MiB;
  start();
  constexpr int N = 4 << 20;
  uintptr_t a = allocate(N * 4), c = allocate(N * 4);
  auto x = numbers(N, 1), y = numbers(N, 2);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(upload(c, y));
  int k = N / 2 + 12345;
  ASSERT_OK(
      kernels.launch(*runtime, "copyRest", N, pointer(c), pointer(a), N, k));
  auto z = download(c, N);
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], i < k ? y[i] : x[i]) << i;
}

TEST_F(RuntimeTest, OfAChunkOnlyWhatIsDefinedMoves) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 64 * MiB;
  start();
  constexpr int N = 4 << 20, M = 1 << 19, Few = 100;
  uintptr_t a = allocate(N * 4), b = allocate(N * 4), d = allocate(N * 4);
  ASSERT_OK(upload(a, numbers(N, 1)));
  ASSERT_OK(upload(b, numbers(N, 2)));
  auto fetched = [&](int n, uintptr_t address) {
    uint64_t before = moved(Direction::HostToDevice);
    EXPECT_OK(kernels.launch(*runtime, "scale", n, pointer(address), n, 3));
    return moved(Direction::HostToDevice) - before;
  };
  auto evicted = [&] { // each slice of it needs all of the device
    uint64_t before = moved(Direction::DeviceToHost);
    EXPECT_OK(kernels.launch(*runtime, "add", N, pointer(d), pointer(a),
                             pointer(b), N));
    return moved(Direction::DeviceToHost) - before;
  };
  evicted();
  uintptr_t c = allocate(M * 4);
  // There is no room on the device: it is written in host memory.
  auto few = numbers(Few, 2);
  ASSERT_OK(upload(c + 4096, few));
  EXPECT_EQ(fetched(Few, c + 4096), uint64_t(Few * 4));
  EXPECT_EQ(evicted() % MiB, uint64_t(Few * 4));
  auto z = download(c + 4096, Few);
  for (int i = 0; i < Few; ++i)
    ASSERT_EQ(z[i], scaled(few[i], 3));

  // What is written beside it is moved with it.
  ASSERT_OK(upload(c + 8192, few));
  EXPECT_EQ(fetched(Few, c + 4096), uint64_t(4096 + Few * 4));
  // A discard takes from both ends, not from the middle.
  auto all = numbers(M, 3);
  evicted();
  ASSERT_OK(upload(c, all));
  ASSERT_OK(runtime->buffers().discard(c + 4000, 4000, nullptr));
  ASSERT_OK(runtime->buffers().discard(c, 4000, nullptr));
  ASSERT_OK(runtime->buffers().discard(c + M * 4 - 400, 400, nullptr));
  EXPECT_EQ(fetched(Few, c + 8000), uint64_t(M * 4 - 4000 - 400));
  EXPECT_EQ(evicted() % MiB, (M * 4 - 4000 - 400) % MiB);
  z = download(c + 8000, Few);
  for (int i = 0; i < Few; ++i)
    ASSERT_EQ(z[i], scaled(all[i + 2000], 3));
  z = download(c + 16000, M - 4100);
  for (int i = 0; i < M - 4100; ++i)
    ASSERT_EQ(z[i], all[i + 4000]);
}

TEST_F(RuntimeTest, OverwritingWhatAnotherPointerReadsIsNoOverwriting) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 32 * MiB;
  start();
  constexpr int N = 4 << 20;
  uintptr_t a = allocate(N * 4), b = allocate(N * 4);
  auto x = numbers(N, 1), y = numbers(N, 2);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(upload(b, y));
  // c is a.
  ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(a), pointer(a),
                           pointer(b), N));
  auto z = download(a, N);
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], sum(x[i], y[i])) << i;
}

TEST_F(RuntimeTest, UnknownKernelsRunOverMappedHostMemory) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 32 * MiB;
  start();
  constexpr int N = 4 << 20;
  uintptr_t a = allocate(N * 4);
  auto x = numbers(N, 1);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(kernels.launch(*runtime, "mix", N, pointer(a), N, 7));
  EXPECT_EQ(runtime->ledger().counter(Counter::HostMappedLaunches), 1u);
  auto z = download(a, N);
  std::vector<int32_t> expected = x;
  for (int64_t i = 0; i < N; ++i)
    expected[(i * 7919) % N] = sum(expected[(i * 7919) % N], 7);
  EXPECT_TRUE(z == expected);
  // And back to slices on the device.
  ASSERT_OK(kernels.launch(*runtime, "scale", N, pointer(a), N, 3));
  z = download(a, N);
  for (int i = 0; i < N; ++i)
    ASSERT_EQ(z[i], scaled(expected[i], 3));
}

TEST_F(RuntimeTest, WhatDoesNotFitAnywhereIsAnErrorThatNamesTheCure) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 8 * MiB;
  start();
  constexpr int N = 4 << 20;
  uintptr_t a = allocate(N * 4), c = allocate(N * 4);
  auto x = numbers(N, 1);
  ASSERT_OK(upload(a, x));
  Status status =
      kernels.launch(*runtime, "gather", N, pointer(c), pointer(a), N, 3);
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("'gather'"));
  EXPECT_THAT(status.message(), HasSubstr("32 MiB"));
  EXPECT_THAT(status.message(), HasSubstr("blocks depend on each other"));
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_DEVICE_MEMORY"));
  EXPECT_TRUE(download(a, N) == x);
}

TEST_F(RuntimeTest, AtomicsStayOnTheDevice) {
  settings.deviceMemory = 6 * MiB;
  settings.hostMemory = 32 * MiB;
  start();
  constexpr int N = 4 << 20;
  uintptr_t a = allocate(N * 4), bins = allocate(1024);
  auto x = numbers(N, 1);
  ASSERT_OK(upload(a, x));
  ASSERT_OK(runtime->buffers().fill(pointer(bins), 0, 4, 256, nullptr));
  ASSERT_OK(kernels.launch(*runtime, "count", N, pointer(bins), pointer(a), N));
  std::vector<int32_t> expected(256);
  for (int32_t value : x)
    ++expected[value & 255];
  EXPECT_TRUE(download(bins, 256) == expected);
}

TEST_F(RuntimeTest, SmallAllocationsShareChunks) {
  settings.strict = false;
  start();
  std::vector<uintptr_t> small;
  for (int i = 0; i < 2000; ++i) {
    small.push_back(allocate(1000));
    ASSERT_EQ(small.back() % 256, 0u);
    ASSERT_OK(runtime->buffers().fill(pointer(small.back()), uint32_t(i), 4,
                                      250, nullptr));
  }
  for (int i = 0; i < 2000; i += 2)
    ASSERT_OK(runtime->buffers().free(small[i]));
  for (int i = 0; i < 2000; i += 2)
    small[i] = allocate(500);
  for (int i = 1; i < 2000; i += 2)
    for (int32_t value : download(small[i], 250))
      ASSERT_EQ(value, i);
  for (uintptr_t base : small)
    ASSERT_OK(runtime->buffers().free(base));
}

TEST_F(RuntimeTest, BadRangesAreErrors) {
  start();
  uintptr_t a = allocate(4 * MiB);
  std::vector<char> data(8 * MiB);
  EXPECT_EQ(runtime->buffers()
                .copy(pointer(a), data.data(), 5 * MiB, nullptr, false)
                .code(),
            DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(runtime->buffers().free(a + 4096).code(),
            DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_OK(runtime->buffers().free(a));
  EXPECT_EQ(runtime->buffers().free(a).code(), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_FALSE(runtime->buffers().find(a));
}

} // namespace
