//===- PlannedMemoryTest.cpp - what the planner accepts has room ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches that cannot be sliced, of all sizes up to what device and host
// memory hold together, after other work has left chunks on the device, in host
// memory of both kinds, in both, in files, in swap and nowhere. One that the
// planner accepts runs while swap has room; one that it refuses says how much
// it may touch.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <numeric>
#include <random>

using namespace dragon;
using namespace dragon::test;

namespace {

class PlannedMemoryTest
    : public RuntimeFixture,
      public testing::WithParamInterface<std::pair<bool, unsigned>> {
protected:
  struct ModelBuffer {
    uintptr_t base = 0;
    std::vector<int32_t> words;
  };
  size_t below(size_t n) { return Random() % n; }

  void begin() {
    Random.seed(GetParam().second);
    settings.chunkBytes = (uint64_t(2) << below(3)) * MiB;
    const uint64_t unit = settings.chunkBytes.value();
    settings.deviceMemory = unit * (1 + below(5)) + 2 * MiB * below(3);
    settings.hostMemory = unit * (2 + below(12)) + 2 * MiB * below(3);
    if (!GetParam().first)
      return start();
    settings.poison = false;
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    start(std::make_unique<LateDevice>(std::move(*device)));
  }

  /// Of so many words.
  ModelBuffer make(size_t words) {
    ModelBuffer buffer;
    buffer.words.assign(words, 0);
    buffer.base = allocate(buffer.words.size() * 4);
    refill(buffer);
    return buffer;
  }
  void refill(ModelBuffer &buffer) {
    buffer.words = numbers(buffer.words.size(), unsigned(Random()));
    if (below(2)) {
      ASSERT_OK(upload(buffer.base, buffer.words));
      return;
    }
    writeFile("in", buffer.words);
    auto file = open("in");
    std::filesystem::remove(path("in")); // each its own inode
    ASSERT_OK(runtime->files().mapFileRange(
        buffer.base, buffer.words.size() * 4, std::move(file), 0));
  }
  /// A launch that is sliced where it must be, and what else moves chunks.
  void work(ModelBuffer &buffer) {
    const size_t bytes = buffer.words.size() * 4;
    switch (below(8)) {
    case 0:
      return refill(buffer);
    case 1:
      ASSERT_TRUE(download(buffer.base, buffer.words.size()) == buffer.words);
      return;
    case 2:
      ASSERT_OK(runtime->buffers().discard(buffer.base, bytes, nullptr,
                                           below(2) != 0));
      return refill(buffer);
    default: {
      const int n = 1 + int(below(buffer.words.size())), k = int(below(9));
      ASSERT_OK(
          kernels.launch(*runtime, "scale", n, pointer(buffer.base), n, k));
      for (size_t i = 0; i < size_t(n); ++i)
        buffer.words[i] = scaled(buffer.words[i], k);
    }
    }
  }

  std::mt19937 Random;
};

TEST_P(PlannedMemoryTest, WhatIsAcceptedRuns) {
  begin();
  const uint64_t transit = std::max<uint64_t>(
      *settings.hostMemory / 4 / *settings.chunkBytes * *settings.chunkBytes,
      *settings.chunkBytes);
  const size_t most =
      (*settings.deviceMemory + *settings.hostMemory - transit) / 4;
  auto size = [&] {
    // All that there is, or little less or more, or half of it.
    const size_t words = below(2) ? most : most / 2;
    return words + below(3) * (256 << 10) - below(3) * (512 << 10) -
           below(1000);
  };
  std::vector<ModelBuffer> buffers;
  for (size_t i = 2 + below(2); i-- > 0;)
    buffers.push_back(make(size()));
  for (int round = 0; round < 8 && !HasFatalFailure(); ++round) {
    SCOPED_TRACE(round);
    for (size_t steps = below(5); steps-- > 0 && !HasFatalFailure();)
      work(buffers[below(buffers.size())]);
    if (below(6) == 0) {
      ModelBuffer &buffer = buffers[below(buffers.size())];
      ASSERT_OK(runtime->buffers().free(buffer.base));
      buffer = make(size());
    }
    ModelBuffer &to = buffers[below(buffers.size())],
                &from = buffers[below(buffers.size())];
    const int n = int(std::min(to.words.size(), from.words.size()));
    Status status;
    if (&to == &from) {
      // One block, which may touch all.
      const int few = std::min(n, 1000);
      status = kernels.launch(*runtime, "gather", few, pointer(to.base),
                              pointer(to.base), few, 0);
      if (status.ok())
        std::fill(to.words.begin(), to.words.begin() + few, to.words[0]);
    } else {
      status = kernels.launch(*runtime, "gather", n, pointer(to.base),
                              pointer(from.base), n, 7919);
      if (status.ok())
        for (int64_t i = 0; i < n; ++i)
          to.words[size_t(i)] = from.words[size_t((i * 7919) % n)];
    }
    if (!status.ok())
      ASSERT_NE(std::string(status.message()).find("may touch"),
                std::string::npos)
          << status.message();
  }
  for (ModelBuffer &buffer : buffers)
    EXPECT_TRUE(download(buffer.base, buffer.words.size()) == buffer.words);
}

/// Some, with those that have found something; or so many.
std::vector<std::pair<bool, unsigned>> seeds() {
  std::vector<unsigned> numbers = {1, 4, 7, 22, 29};
  if (const char *more = std::getenv("DRAGON_TEST_SEEDS")) {
    numbers.resize(size_t(std::atoi(more)));
    std::iota(numbers.begin(), numbers.end(), 0u);
  }
  std::vector<std::pair<bool, unsigned>> result;
  for (unsigned seed : numbers)
    result.emplace_back(seed % 2, seed);
  return result;
}
INSTANTIATE_TEST_SUITE_P(Seeds, PlannedMemoryTest, testing::ValuesIn(seeds()),
                         [](const auto &info) {
                           return std::string(info.param.first ? "Late"
                                                               : "Cpu") +
                                  std::to_string(info.param.second);
                         });

} // namespace
