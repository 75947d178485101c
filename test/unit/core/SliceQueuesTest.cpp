//===- SliceQueuesTest.cpp - slices that run at a time --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a device where each launch runs only when somebody waits for it, so that
// one that nobody ordered behind what it needs comes too early or too late.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <random>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int QueuedWords = 2 << 20; ///< a buffer is twice the device

class SliceQueuesTest : public RuntimeFixture {
protected:
  const LateDevice &begin(Wavefront wavefront, unsigned queues) {
    settings.chunkBytes = 512 << 10;
    settings.deviceMemory = 4 * MiB;
    settings.hostMemory = 64 * MiB;
    settings.wavefront = wavefront;
    settings.poison = false;
    settings.sliceQueues = queues;
    std::string notes;
    auto device = createDevice(settings, notes);
    EXPECT_TRUE(device.ok()) << device.takeStatus().message();
    auto late =
        std::make_unique<LateDevice>(std::move(*device), /*lateLaunches=*/true);
    const LateDevice &watched = *late;
    start(std::move(late));
    return watched;
  }
};

TEST_F(SliceQueuesTest, SlicesOfALaunchRunAtATime) {
  for (unsigned queues : {1u, 3u}) {
    const LateDevice &late = begin(Wavefront::Off, queues);
    const uintptr_t a = allocate(size_t(QueuedWords) * 4),
                    b = allocate(size_t(QueuedWords) * 4);
    std::vector<int32_t> model = numbers(QueuedWords, 5);
    ASSERT_OK(upload(a, model));
    ASSERT_OK(kernels.launch(*runtime, "scale", QueuedWords, pointer(a),
                             QueuedWords, 3));
    // Reads what the slices of the first wrote, in whatever queue.
    ASSERT_OK(kernels.launch(*runtime, "add", QueuedWords, pointer(b),
                             pointer(a), pointer(a), QueuedWords));
    for (int32_t &value : model)
      value = sum(scaled(value, 3), scaled(value, 3));
    EXPECT_TRUE(download(b, QueuedWords) == model);
    EXPECT_EQ(late.queuesAtATime(), queues);
    EXPECT_EQ(late.misused(), 0u);
    EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 2u);
  }
}

// Launches of all kinds on a few buffers, alone and together.
TEST_F(SliceQueuesTest, RandomLaunchesKeepTheirOrder) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const LateDevice &late =
        begin(seed % 3 ? Wavefront::Auto : Wavefront::Always, 2 + seed % 3);
    kernels.followed = true;
    std::vector<uintptr_t> buffers;
    std::vector<std::vector<int32_t>> models;
    for (int i = 0; i < 3; ++i) {
      buffers.push_back(allocate(size_t(QueuedWords) * 4));
      models.push_back(numbers(QueuedWords, uint32_t(i)));
      ASSERT_OK(upload(buffers.back(), models.back()));
    }
    for (int step = 0; step < 9; ++step) {
      const size_t to = random() % 3, from = (to + 1 + random() % 2) % 3;
      const std::vector<int32_t> old = models[from];
      std::vector<int32_t> &model = models[to];
      switch (random() % 4) {
      case 0:
        ASSERT_OK(kernels.launch(*runtime, "scale", QueuedWords,
                                 pointer(buffers[to]), QueuedWords, 3));
        for (int32_t &value : model)
          value = scaled(value, 3);
        break;
      case 1:
        ASSERT_OK(kernels.launch(*runtime, "iota", QueuedWords,
                                 pointer(buffers[to]), QueuedWords, 5));
        for (int i = 0; i < QueuedWords; ++i)
          model[size_t(i)] = scaled(i, 5);
        break;
      case 2:
        ASSERT_OK(kernels.launch(*runtime, "stencil", QueuedWords,
                                 pointer(buffers[to]), pointer(buffers[from]),
                                 QueuedWords));
        for (size_t i = 0; i < size_t(QueuedWords); ++i)
          model[i] = sum(sum(old[i ? i - 1 : 0], old[i]),
                         old[std::min(i + 1, size_t(QueuedWords) - 1)]);
        break;
      default:
        ASSERT_OK(kernels.launch(*runtime, "add", QueuedWords,
                                 pointer(buffers[to]), pointer(buffers[from]),
                                 pointer(buffers[to]), QueuedWords));
        for (size_t i = 0; i < size_t(QueuedWords); ++i)
          model[i] = sum(old[i], model[i]);
      }
      if (random() % 5 == 0) {
        const size_t looked = random() % 3;
        ASSERT_TRUE(download(buffers[looked], QueuedWords) == models[looked]);
      }
    }
    for (size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(download(buffers[i], QueuedWords) == models[i]);
    EXPECT_EQ(late.misused(), 0u);
    EXPECT_GE(late.queuesAtATime(), 2u);
  }
}

} // namespace
