//===- LateEvictionTest.cpp - eviction on an asynchronous device ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class LateEvictionTest : public RuntimeFixture {};

/// A device that does nothing before it is waited for; little of everything.
TEST_F(LateEvictionTest, NothingIsLostOnAnAsynchronousDevice) {
  settings.deviceMemory = 8 * MiB;
  settings.hostMemory = 24 * MiB;
  settings.poison = settings.strict = false;
  auto inner = makeDevice();
  ASSERT_TRUE(inner);
  auto late = std::make_unique<LateDevice>(std::move(inner));
  const LateDevice &watched = *late;
  RuntimeFixture::start(std::move(late));
  constexpr int N = 4 << 20; // 16 MiB each
  std::vector<uintptr_t> arrays;
  for (uint32_t i = 0; i < 4; ++i) {
    arrays.push_back(allocate(N * 4));
    ASSERT_OK(upload(arrays[i], numbers(N, i)));
  }
  for (int round = 0; round < 3; ++round)
    for (uintptr_t array : arrays)
      ASSERT_OK(
          kernels.launch(*runtime, "scale", N, pointer(array), N, round + 2));
  for (uint32_t i = 0; i < 4; ++i) {
    auto expected = numbers(N, i);
    for (int round = 0; round < 3; ++round)
      for (int32_t &value : expected)
        value = scaled(value, round + 2);
    EXPECT_TRUE(download(arrays[i], N) == expected) << i;
  }
  EXPECT_GT(moved(Direction::HostToSwap), 0u);
  EXPECT_EQ(watched.misused(), 0u);
  for (uintptr_t array : arrays)
    EXPECT_OK(runtime->buffers().free(array));
  runtime.reset();
}

} // namespace
