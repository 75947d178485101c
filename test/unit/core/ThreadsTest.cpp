//===- ThreadsTest.cpp - many threads on a device that is late ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads with buffers and queues of their own share a runtime whose device and
// host memory are too small for them, so that chunks go to swap as well. Their
// results must be theirs, whatever the order; ThreadSanitizer sees the rest.
// The interleavings of short sequences are in test/unit/interleavings.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <thread>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int SharedWords = 1 << 20; ///< words of a buffer: two chunks
constexpr int NumThreads = 3, NumRounds = 3;

class ThreadsTest : public RuntimeFixture,
                    public testing::WithParamInterface<Wavefront> {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.poison = false; // the device is asynchronous
    settings.strict = false;
    settings.deviceMemory = 12 * MiB;
    settings.hostMemory = 16 * MiB;
    settings.wavefront = GetParam();
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    start(std::make_unique<LateDevice>(std::move(*device), true));
  }

  /// a = seed * i; b = a in steps; then b again, and a is what was b.
  void round(int seed) {
    auto queue = runtime->device().createQueue(0, 0);
    ASSERT_TRUE(queue.ok());
    const uintptr_t a = allocate(SharedWords * 4),
                    b = allocate(SharedWords * 4);
    ASSERT_OK(kernels.launchOn(*runtime, *queue, "iota", SharedWords,
                               pointer(a), SharedWords, seed));
    ASSERT_OK(kernels.launchOn(*runtime, *queue, "stencil", SharedWords,
                               pointer(b), pointer(a), SharedWords));
    ASSERT_OK(kernels.launchOn(*runtime, *queue, "scale", SharedWords,
                               pointer(b), SharedWords, 3));
    ASSERT_OK(runtime->launches().runWaiting());
    ASSERT_OK(runtime->device().synchronize(*queue));
    ASSERT_OK(runtime->launches().destroyQueue(*queue));
    const std::vector<int32_t> found = download(b, SharedWords);
    for (int i = 0; i < SharedWords; ++i) {
      auto at = [&](int k) {
        return scaled(std::clamp(k, 0, SharedWords - 1), seed);
      };
      ASSERT_EQ(found[size_t(i)],
                scaled(sum(sum(at(i - 1), at(i)), at(i + 1)), 3))
          << "at " << i << " of seed " << seed;
    }
    ASSERT_OK(runtime->buffers().free(a));
    ASSERT_OK(runtime->buffers().free(b));
  }
};

TEST_P(ThreadsTest, EachFindsItsOwnResults) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < NumThreads; ++thread)
    threads.emplace_back([this, thread] {
      for (int i = 0; i < NumRounds && !HasFatalFailure(); ++i)
        round(100 * thread + i + 1);
    });
  for (std::thread &thread : threads)
    thread.join();
}

INSTANTIATE_TEST_SUITE_P(Waves, ThreadsTest,
                         testing::Values(Wavefront::Off, Wavefront::Auto,
                                         Wavefront::Always));

} // namespace
