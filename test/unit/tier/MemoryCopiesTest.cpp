//===- MemoryCopiesTest.cpp - copies that the processor makes -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those from protected memory are in ProtectedMemoryTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/MemoryCopies.h"
#include "test/unit/support/base/Expect.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

using namespace dragon;
using namespace dragon::test;

namespace {

std::vector<char> pattern(size_t bytes) {
  std::vector<char> result(bytes);
  for (size_t i = 0; i < bytes; ++i)
    result[i] = char((i * 31 + i / 4096) >> 1);
  return result;
}

TEST(MemoryCopies, PiecesOfAllSizes) {
  const size_t sizes[] = {0, 1, 4095, MiB, MiB + 1, 70 * MiB, 17};
  const size_t total =
      std::accumulate(std::begin(sizes), std::end(sizes), size_t(0));
  const std::vector<char> from = pattern(total);
  std::vector<char> to(total);
  MemoryCopies copies;
  size_t at = 0;
  for (size_t size : sizes) {
    copies.add(to.data() + at, from.data() + at, size);
    at += size;
  }
  EXPECT_EQ(copies.bytes(), total);
  copies.makeAll();
  EXPECT_TRUE(from == to);
}

TEST(MemoryCopies, EachIsMadeOnce) {
  std::vector<char> from = pattern(5 * MiB), to(from.size());
  MemoryCopies copies;
  copies.add(to.data(), from.data(), from.size());
  EXPECT_FALSE(copies.empty());
  copies.makeAll();
  EXPECT_TRUE(from == to);
  EXPECT_TRUE(copies.empty());
  EXPECT_EQ(copies.bytes(), 0u);
  std::fill(from.begin(), from.end(), 0); // not read again
  copies.makeAll();
  EXPECT_NE(to[1000], 0);
}

} // namespace
