//===- ManagedRuntimeTest.cpp - the runtime over managed memory -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The managed back end on a driver that destroys what is discarded: what is
// lost too early shows in the results.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/managed/ManagedDevice.h"
#include "test/unit/support/core/ManagedFixture.h"

#include <gmock/gmock.h>

using namespace dragon;
using namespace dragon::test;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace {

constexpr int ManagedWords = 4 << 20; ///< 16 MiB of int32

const std::set<std::string> Hints = {
    "cuMemDiscardBatchAsync", "cuMemPrefetchBatchAsync",
    "cuMemDiscardAndPrefetchBatchAsync", "cuMemAdvise", "cuLaunchKernel"};

class ManagedRuntimeTest : public ManagedFixture {
protected:
  void startManaged() {
    auto device = ManagedDevice::createOn(fake.driver(), settings);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    start(std::move(*device));
    fake.numManaged = 0;
    fake.calls.clear();
  }
  std::vector<std::string> hints() { return fake.take(Hints); }
};

TEST_F(ManagedRuntimeTest, OutOfCore) {
  startManaged();
  uintptr_t a = allocate(ManagedWords * 4), b = allocate(ManagedWords * 4),
            c = allocate(ManagedWords * 4);
  std::vector<int32_t> inA = numbers(ManagedWords, 1),
                       inB = numbers(ManagedWords, 2), expect(ManagedWords);
  ASSERT_OK(upload(a, inA));
  ASSERT_OK(upload(b, inB));
  for (int round = 0; round < 3; ++round) {
    ASSERT_OK(
        kernels.launch(*runtime, "add", ManagedWords, c, a, b, ManagedWords));
    ASSERT_OK(kernels.launch(*runtime, "scale", ManagedWords, a, ManagedWords,
                             3 + round));
    ASSERT_OK(
        kernels.launch(*runtime, "stencil", ManagedWords, b, c, ManagedWords));
    std::vector<int32_t> outC(ManagedWords);
    for (int i = 0; i < ManagedWords; ++i) {
      outC[size_t(i)] = sum(inA[size_t(i)], inB[size_t(i)]);
      inA[size_t(i)] = scaled(inA[size_t(i)], 3 + round);
    }
    for (int i = 0; i < ManagedWords; ++i)
      inB[size_t(i)] =
          sum(sum(outC[size_t(std::max(i - 1, 0))], outC[size_t(i)]),
              outC[size_t(std::min(i + 1, ManagedWords - 1))]);
    expect = outC;
  }
  EXPECT_EQ(download(c, ManagedWords), expect);
  EXPECT_EQ(download(a, ManagedWords), inA);
  EXPECT_EQ(download(b, ManagedWords), inB);
  EXPECT_LE(runtime->buffers().memoryInUse().device, 16 * MiB);
  EXPECT_THAT(fake.calls, Contains(StartsWith("cuMemDiscardBatchAsync")));
  // Buffers that only the device touches are to stay there.
  EXPECT_THAT(fake.calls, Contains("cuMemAdvise(m0 16M, 3, device 0)"));
  for (uintptr_t buffer : {a, b, c})
    EXPECT_OK(runtime->buffers().free(buffer));
}

TEST_F(ManagedRuntimeTest, WhatNeedsMoreThanTheBudgetAtOnceRuns) {
  settings.deviceMemory = 4 * MiB;
  startManaged();
  // "gather" has no slices.
  uintptr_t data = allocate(ManagedWords * 4), out = allocate(ManagedWords * 4);
  const std::vector<int32_t> values = numbers(ManagedWords, 5);
  std::vector<int32_t> expect(ManagedWords);
  for (int i = 0; i < ManagedWords; ++i)
    expect[size_t(i)] = values[size_t(i * 3 % ManagedWords)];
  ASSERT_OK(upload(data, values));
  ASSERT_OK(kernels.launch(*runtime, "gather", ManagedWords, out, data,
                           ManagedWords, 3));
  EXPECT_EQ(download(out, ManagedWords), expect);
  // The budget holds again as soon as something else needs room.
  uintptr_t other = allocate(ManagedWords * 4);
  ASSERT_OK(upload(other, values));
  ASSERT_OK(
      kernels.launch(*runtime, "scale", ManagedWords, other, ManagedWords, 3));
  EXPECT_LE(runtime->buffers().memoryInUse().device, 4 * MiB);
  EXPECT_EQ(download(out, ManagedWords), expect);
  EXPECT_EQ(download(other, ManagedWords)[7], scaled(values[7], 3));
  for (uintptr_t buffer : {data, out, other})
    EXPECT_OK(runtime->buffers().free(buffer));
}

TEST_F(ManagedRuntimeTest, ReadOnlyBuffersAreReadMostly) {
  startManaged();
  uintptr_t a = allocate(2 * MiB, D_READ);
  EXPECT_THAT(hints(), ElementsAre("cuMemAdvise(m0 2M, 1, device 0)"));
  EXPECT_OK(runtime->buffers().free(a));
}

TEST_F(ManagedRuntimeTest, TheHostTouchesItsBuffersFreely) {
  startManaged();
  // Twice the budget: the driver's to move, and no part of it.
  uintptr_t c = allocate(ManagedWords * 4, 0, true),
            a = allocate(ManagedWords * 4, 0, true);
  EXPECT_THAT(hints(), IsEmpty());
  for (int i = 0; i < ManagedWords; ++i)
    words(a)[i] = i;
  ASSERT_OK(
      kernels.launch(*runtime, "stencil", ManagedWords, c, a, ManagedWords));
  // What is overwritten is discarded before; the neighbours are one range.
  EXPECT_THAT(
      hints(),
      ElementsAre("cuMemDiscardAndPrefetchBatchAsync(m0 16M, device 0, s1)",
                  "cuMemPrefetchBatchAsync(m1 16M, device 0, s1)",
                  "cuLaunchKernel(4096x1x1, null)"));
  EXPECT_EQ(words(c)[100], 300);
  words(a)[100] = 0;
  ASSERT_OK(
      kernels.launch(*runtime, "stencil", ManagedWords, c, a, ManagedWords));
  EXPECT_THAT(hints(), ElementsAre("cuLaunchKernel(4096x1x1, null)"));
  EXPECT_EQ(words(c)[100], 200);
  EXPECT_EQ(download(c, 101)[100], 200);
  EXPECT_EQ(runtime->buffers().memoryInUse().device, 0u);
  EXPECT_OK(runtime->buffers().free(a));
  EXPECT_OK(runtime->buffers().free(c));
}

TEST_F(ManagedRuntimeTest, TogetherWithOthersOutOfCore) {
  startManaged();
  uintptr_t a = allocate(ManagedWords * 4),
            shared = allocate(ManagedWords * 4, 0, true),
            c = allocate(ManagedWords * 4);
  std::vector<int32_t> in = numbers(ManagedWords, 5);
  ASSERT_OK(upload(a, in));
  for (int i = 0; i < ManagedWords; ++i)
    words(shared)[i] = i;
  for (int round = 1; round <= 2; ++round) {
    ASSERT_OK(kernels.launch(*runtime, "add", ManagedWords, c, a, shared,
                             ManagedWords));
    ASSERT_OK(kernels.launch(*runtime, "add", ManagedWords, shared, c, a,
                             ManagedWords));
  }
  for (int i : {0, 77777, ManagedWords - 1}) {
    int32_t value = i, x = in[size_t(i)];
    for (int round = 1; round <= 2; ++round)
      value = sum(sum(x, value), x);
    EXPECT_EQ(words(shared)[i], value);
  }
  for (uintptr_t buffer : {a, shared, c})
    EXPECT_OK(runtime->buffers().free(buffer));
}

TEST_F(ManagedRuntimeTest, DiscardReachesTheDriverAndAPrefetchComesBefore) {
  startManaged();
  uintptr_t a = allocate(8 * MiB, 0, true);
  const int n = 2 << 20;
  ASSERT_OK(kernels.launch(*runtime, "iota", n, a, n, 1));
  hints();
  ASSERT_OK(runtime->buffers().discard(a + 2 * MiB, 4 * MiB, nullptr));
  EXPECT_THAT(hints(), ElementsAre("cuMemDiscardBatchAsync(m0+2M 4M, s1)"));
  // What the host writes then is not lost.
  words(a)[MiB] = 6;
  ASSERT_OK(kernels.launch(*runtime, "scale", n, a, n, 2));
  EXPECT_THAT(hints(),
              ElementsAre("cuMemPrefetchBatchAsync(m0+2M 4M, device 0, s1)",
                          "cuLaunchKernel(2048x1x1, null)"));
  EXPECT_EQ(words(a)[MiB], 13);
  EXPECT_OK(runtime->buffers().free(a));
}

TEST_F(ManagedRuntimeTest, LastUsesAreTheDriversWhereMemoryIsShort) {
  for (bool oversubscribe : {false, true}) {
    settings.managedOversubscribe = oversubscribe;
    fake.next = 1;
    startManaged();
    uintptr_t a = allocate(2 * MiB, 0, true);
    int n = 1024, k = 1;
    void *args[] = {&a, &n, &k};
    const LastUse dies{a, 2 * MiB, false};
    LaunchCall call{};
    call.kernel = kernels.find("scale");
    call.grid[0] = call.grid[1] = call.grid[2] = 1;
    call.block[0] = 1024;
    call.block[1] = call.block[2] = 1;
    call.args = args;
    call.numArgs = 3;
    call.lastUses = {&dies, 1};
    hints();
    ASSERT_OK(runtime->launches().launch(call));
    const auto told = hints();
    EXPECT_EQ(oversubscribe, told.back() == "cuMemDiscardBatchAsync(m0 2M, s1)")
        << told.back();
    EXPECT_OK(runtime->buffers().free(a));
  }
}

TEST_F(ManagedRuntimeTest, ALaunchThatMayBeRefusedDiscardsNothing) {
  startManaged();
  uintptr_t c = allocate(2 * MiB, 0, true), a = allocate(2 * MiB, 0, true);
  const int n = 512 << 10;
  words(c)[5] = 55;
  fake.failing["cuLaunchKernel"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_FALSE(kernels.launch(*runtime, "gather", n, c, a, n, 3).ok());
  // By address, which the driver chooses.
  EXPECT_THAT(hints(), ElementsAre(AnyOf("cuMemPrefetchBatchAsync(m0 2M, m1 "
                                         "2M, device 0, s1)",
                                         "cuMemPrefetchBatchAsync(m1 2M, m0 "
                                         "2M, device 0, s1)"),
                                   "cuLaunchKernel(512x1x1, null)"));
  EXPECT_EQ(words(c)[5], 55);
  EXPECT_OK(runtime->buffers().free(a));
  EXPECT_OK(runtime->buffers().free(c));
}

TEST_F(ManagedRuntimeTest, PrefetchesAndAdviceOfTheProgram) {
  startManaged();
  uintptr_t a = allocate(4 * MiB, 0, true);
  ASSERT_OK(runtime->buffers().prefetch(a, 4 * MiB, nullptr));
  ASSERT_OK(runtime->buffers().advise(a, 2 * MiB, DRAGON_ADVISE_KEEP_HOST));
  ASSERT_OK(runtime->buffers().prefetchToHost(a, 2 * MiB, nullptr));
  EXPECT_THAT(hints(),
              ElementsAre("cuMemPrefetchBatchAsync(m0 4M, device 0, s1)",
                          "cuMemAdvise(m0 2M, 3, host)",
                          "cuMemAdvise(m0 2M, 5, device 0)",
                          "cuMemPrefetchBatchAsync(m0 2M, host, s1)"));
  // A launch brings back what went.
  ASSERT_OK(kernels.launch(*runtime, "scale", 1 << 20, a, 1 << 20, 2));
  EXPECT_THAT(hints(),
              ElementsAre("cuMemPrefetchBatchAsync(m0 2M, device 0, s1)",
                          "cuLaunchKernel(1024x1x1, null)"));
  // Buffers of the device have memory there when they are needed.
  uintptr_t b = allocate(4 * MiB);
  hints();
  ASSERT_OK(runtime->buffers().prefetchToHost(b, 2 * MiB, nullptr));
  ASSERT_OK(runtime->buffers().prefetch(b, 2 * MiB, nullptr));
  EXPECT_THAT(hints(), ElementsAre("cuMemDiscardAndPrefetchBatchAsync(m1 4M, "
                                   "device 0, s1)"));
  EXPECT_OK(runtime->buffers().free(a));
  EXPECT_OK(runtime->buffers().free(b));
}

TEST_F(ManagedRuntimeTest, MapsOfFilesAreReadWhenTheyAreMade) {
  startManaged();
  const std::vector<int32_t> data = numbers(ManagedWords, 9);
  writeFile("in", data);
  auto map =
      runtime->files().mapFile(path("in").c_str(), ManagedWords * 4, 0, D_READ);
  ASSERT_TRUE(map.ok()) << map.takeStatus().message();
  EXPECT_EQ(words(*map)[ManagedWords - 1], data.back());
  EXPECT_THAT(hints(), Contains("cuMemAdvise(m0 16M, 1, device 0)"));
  uintptr_t c = allocate(ManagedWords * 4);
  ASSERT_OK(kernels.launch(*runtime, "add", ManagedWords, c, *map, *map,
                           ManagedWords));
  EXPECT_EQ(download(c, ManagedWords)[12345], sum(data[12345], data[12345]));
  words(*map)[7] = 0; // stays private
  EXPECT_OK(runtime->buffers().free(*map));
  EXPECT_EQ(readFile("in"), data);
  EXPECT_OK(runtime->buffers().free(c));
}

TEST_F(ManagedRuntimeTest, WhatHostAndKernelsWriteToAMapReachesTheFile) {
  startManaged();
  std::vector<int32_t> data = numbers(ManagedWords, 11);
  writeFile("both", data);
  auto map = runtime->files().mapFile(path("both").c_str(), ManagedWords * 4, 0,
                                      D_READ | D_WRITE);
  ASSERT_TRUE(map.ok());
  ASSERT_OK(
      kernels.launch(*runtime, "scale", ManagedWords, *map, ManagedWords, 5));
  words(*map)[100] = 42;
  ASSERT_OK(runtime->files().sync(*map));
  for (int32_t &value : data)
    value = scaled(value, 5);
  data[100] = 42;
  EXPECT_EQ(readFile("both"), data);
  words(*map)[101] = 43; // after the sync
  data[101] = 43;
  EXPECT_OK(runtime->buffers().free(*map));
  EXPECT_EQ(readFile("both"), data);
}

TEST_F(ManagedRuntimeTest, WhatNobodyWritesOfAMapIsZero) {
  startManaged();
  auto map = runtime->files().mapFile(path("out").c_str(), 8 * MiB + 4096, 0,
                                      D_WRITE | D_CREATE);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(words(*map)[123], 0);
  words(*map)[MiB] = 1;
  EXPECT_OK(runtime->buffers().free(*map));
  std::vector<int32_t> expect(2 * MiB + 1024);
  expect[MiB] = 1;
  EXPECT_EQ(readFile("out"), expect);
}

TEST_F(ManagedRuntimeTest, RemapOfAMap) {
  startManaged();
  const std::vector<int32_t> data = numbers(ManagedWords, 14);
  writeFile("file", data);
  // From reading to writing: what was changed before is written as well.
  auto map = runtime->files().mapFile(path("file").c_str(), ManagedWords * 4, 0,
                                      D_READ);
  ASSERT_TRUE(map.ok());
  words(*map)[3] = 33;
  ASSERT_OK(
      runtime->files().remapFile(*map, D_READ | D_WRITE, open("file", true)));
  EXPECT_EQ(words(*map)[3], 33);
  ASSERT_OK(kernels.launch(*runtime, "scale", 1024, *map, 1024, 2));
  // And back: it is in the file then, and nothing after it.
  ASSERT_OK(runtime->files().remapFile(*map, D_READ, open("file")));
  EXPECT_EQ(readFile("file")[3], scaled(33, 2));
  EXPECT_EQ(readFile("file")[ManagedWords - 1], data[ManagedWords - 1]);
  words(*map)[3] = 44;
  EXPECT_OK(runtime->buffers().free(*map));
  EXPECT_EQ(readFile("file")[3], scaled(33, 2));
}

TEST_F(ManagedRuntimeTest, RemapDropsWhatIsVolatile) {
  startManaged();
  const std::vector<int32_t> data = numbers(ManagedWords, 15);
  writeFile("file", data);
  uintptr_t a = allocate(ManagedWords * 4, D_VOLATILE, true);
  words(a)[ManagedWords - 1] = 5;
  fake.calls.clear();
  ASSERT_OK(runtime->files().remapFile(a, D_VOLATILE, nullptr));
  EXPECT_EQ(words(a)[ManagedWords - 1], 0);
  // The host may look at once, and nobody hears of it.
  const std::vector<std::string> calls =
      fake.take({"cuMemsetAsync", "cuCtxSynchronize"});
  ASSERT_FALSE(calls.empty());
  EXPECT_THAT(calls.back(), testing::StartsWith("cuCtxSynchronize"));
  words(a)[ManagedWords - 1] = 6;
  ASSERT_OK(runtime->files().remapFile(a, D_READ, open("file")));
  EXPECT_EQ(words(a)[0], data[0]);
  EXPECT_EQ(words(a)[ManagedWords - 1], data[ManagedWords - 1]);
  EXPECT_OK(runtime->buffers().free(a));
}

TEST_F(ManagedRuntimeTest, FilesUnderBuffersOfTheDeviceAreReadForTheLaunch) {
  startManaged();
  const std::vector<int32_t> data = numbers(ManagedWords, 13);
  writeFile("in", data);
  uintptr_t a = allocate(ManagedWords * 4, D_READ),
            c = allocate(ManagedWords * 4);
  ASSERT_OK(runtime->files().mapFileRange(a, ManagedWords * 4, open("in"), 0));
  EXPECT_EQ(moved(Direction::FileToHost), 0u);
  ASSERT_OK(
      kernels.launch(*runtime, "add", ManagedWords, c, a, a, ManagedWords));
  EXPECT_EQ(moved(Direction::FileToHost), uint64_t(ManagedWords) * 4);
  EXPECT_EQ(download(c, ManagedWords)[ManagedWords - 2],
            sum(data[ManagedWords - 2], data[ManagedWords - 2]));
  EXPECT_OK(runtime->buffers().free(a));
  EXPECT_OK(runtime->buffers().free(c));
}

TEST_F(ManagedRuntimeTest, LibrariesFindTheirBuffersThere) {
  startManaged();
  uintptr_t a = allocate(2 * MiB);
  LibraryCall call{};
  const LibraryUse use{a, 2 * MiB, LaunchNeed::Write};
  call.function = "f";
  call.uses = {use};
  call.queue = Queue(nullptr);
  LibraryHold hold;
  ASSERT_OK(runtime->libraries().beginLibraryCall(call, hold));
  const auto calls =
      fake.take({"cuMemDiscardAndPrefetchBatchAsync", "cuStreamSynchronize"});
  EXPECT_THAT(calls, ElementsAre("cuMemDiscardAndPrefetchBatchAsync(m0 2M, "
                                 "device 0, s1)",
                                 "cuStreamSynchronize(s1)"));
  ASSERT_OK(runtime->libraries().endLibraryCall(hold));
  EXPECT_OK(runtime->buffers().free(a));
}

TEST_F(ManagedRuntimeTest, FreeWaitsForLaunchesOnWhatTheDriverMoves) {
  startManaged();
  uintptr_t a = allocate(2 * MiB, 0, true);
  ASSERT_OK(kernels.launch(*runtime, "scale", 1024, a, 1024, 2));
  fake.calls.clear();
  EXPECT_OK(runtime->buffers().free(a));
  EXPECT_THAT(fake.take({"cuCtxSynchronize", "cuMemFree"}),
              ElementsAre("cuCtxSynchronize( )", "cuMemFree(m0)"));
}

TEST_F(ManagedRuntimeTest, AllocationsBeyondTheCardAreRefused) {
  fake.freeBytes = 64 * MiB;
  startManaged();
  uintptr_t a = allocate(32 * MiB);
  Status status = runtime->buffers().allocate(32 * MiB, {}).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_MANAGED_OVERSUBSCRIBE=1"));
  EXPECT_LE(fake.mostManagedBytes, 64 * MiB);
  EXPECT_OK(runtime->buffers().free(a));
}

} // namespace
