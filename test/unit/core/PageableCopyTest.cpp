//===- PageableCopyTest.cpp - copies of memory that is not pinned ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ThreadPool.h"
#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <algorithm>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

/// Copies by the program on a device that does everything late.
class PageableCopyTest : public RuntimeFixture {
protected:
  void startLate(uint64_t deviceMemory, uint64_t hostMemory = 256 * MiB) {
    settings.deviceMemory = deviceMemory;
    settings.hostMemory = hostMemory;
    auto made = makeDevice();
    ASSERT_TRUE(made);
    auto late = std::make_unique<LateDevice>(std::move(made));
    Late = late.get();
    start(std::move(late));
  }
  /// Copies in and out, whole and in parts, with kernels in between.
  void program(size_t count, int buffers);

  LateDevice *Late = nullptr;
};

void PageableCopyTest::program(size_t count, int buffers) {
  const auto n = int(count);
  struct Pair {
    uintptr_t base;
    std::vector<int32_t> words;
  };
  std::vector<Pair> pairs;
  for (int b = 0; b < buffers; ++b)
    pairs.push_back({allocate(count * 4, b % 2 ? D_READ : 0), {}});
  uint32_t seed = 1;
  for (Pair &pair : pairs) {
    pair.words = numbers(count, ++seed);
    std::vector<int32_t> memory = pair.words;
    ASSERT_OK(runtime->buffers().copy(pointer(pair.base), memory.data(),
                                      count * 4, nullptr, /*async=*/seed % 2,
                                      /*pageable=*/true));
    std::fill(memory.begin(), memory.end(), 7); // has been read
  }
  for (Pair &pair : pairs)
    EXPECT_TRUE(download(pair.base, count) == pair.words);
  for (Pair &pair : pairs) {
    ASSERT_OK(
        kernels.launch(*runtime, "scale", n, pointer(pair.base), n, int(seed)));
    for (int32_t &word : pair.words)
      word = scaled(word, int32_t(seed));
    // Neither end is that of a chunk.
    size_t begin = count / 9 + 1, end = count - count / 7;
    std::vector<int32_t> part = numbers(end - begin, ++seed);
    ASSERT_OK(runtime->buffers().copy(pointer(pair.base + begin * 4),
                                      part.data(), part.size() * 4, nullptr,
                                      true, true));
    std::copy(part.begin(), part.end(), pair.words.begin() + long(begin));
  }
  for (Pair &pair : pairs) {
    std::vector<int32_t> memory(count);
    ASSERT_OK(runtime->buffers().copy(memory.data(), pointer(pair.base),
                                      count * 4, nullptr, true,
                                      /*pageable=*/true));
    EXPECT_TRUE(memory == pair.words);
    ASSERT_OK(runtime->buffers().copy(memory.data(), pointer(pair.base + 4),
                                      (count - 2) * 4, nullptr, false, true));
    EXPECT_TRUE(std::equal(pair.words.begin() + 1, pair.words.end() - 1,
                           memory.begin()));
  }
  for (Pair &pair : pairs)
    ASSERT_OK(runtime->buffers().free(pair.base));
  EXPECT_EQ(Late->misused(), 0u);
}

TEST_F(PageableCopyTest, inCore) {
  startLate(96 * MiB);
  program(5 * MiB, 2); // 20 MiB each
  // With pinned blocks no copy waits for the device alone.
  if (hostThreads().threads() > 1)
    EXPECT_GT(Late->late(), 40u);
}

TEST_F(PageableCopyTest, outOfCore) {
  startLate(32 * MiB);
  program(5 * MiB, 3);
}

TEST_F(PageableCopyTest, hostMemoryEnds) {
  startLate(16 * MiB, 32 * MiB);
  program(5 * MiB, 4);
}

TEST_F(PageableCopyTest, hostMemoryThatReachesIntoABuffer) {
  startLate(32 * MiB);
  uintptr_t from = allocate(MiB, 0, /*hostAccessible=*/true);
  uintptr_t to = allocate(4 * MiB);
  Status status = runtime->buffers().copy(pointer(to), pointer(from - 64), 128,
                                          nullptr, false, true);
  EXPECT_EQ(status.code(), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(status.message(), HasSubstr("reaches into buffer"));
  status = runtime->buffers().copy(pointer(from - 64), pointer(to), 128,
                                   nullptr, false, true);
  EXPECT_EQ(status.code(), DRAGON_ERROR_INVALID_ARGUMENT);
}

} // namespace
