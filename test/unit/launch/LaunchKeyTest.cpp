//===- LaunchKeyTest.cpp - when two launches are the same -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchKey.h"
#include "test/unit/support/launch/CallFixture.h"

#include <functional>
#include <set>

using namespace dragon;
using namespace dragon::test;

namespace {

class LaunchKeyTest : public CallFixture {
protected:
  uint64_t buffers(const Call &made) {
    return buffersKey(ResolvedLaunch(made.call, Index));
  }
};

TEST_F(LaunchKeyTest, AShapeIsTheKernelAndItsNumbers) {
  const uintptr_t a = add(4096).base;
  std::set<uint64_t> keys;
  const Call call = make("scale", 10, a, 640, 3);
  keys.insert(shapeKey(call.call));
  const std::function<void(LaunchCall &)> changes[] = {
      [](LaunchCall &other) { other.grid[0] = 11; },
      [](LaunchCall &other) { other.grid[1] = 10; },
      [](LaunchCall &other) { other.grid[2] = 10; },
      [](LaunchCall &other) { other.block[0] = 10; },
      [](LaunchCall &other) { other.block[1] = 10; },
      [](LaunchCall &other) { other.block[2] = 10; },
      [](LaunchCall &other) { other.dynamicSharedBytes = 10; },
      [&](LaunchCall &other) { other.kernel = kernels.find("iota"); },
      // Grid and block are not taken for each other.
      [](LaunchCall &other) { std::swap(other.grid, other.block); }};
  for (const auto &change : changes) {
    LaunchCall other = call.call;
    change(other);
    EXPECT_TRUE(keys.insert(shapeKey(other)).second) << keys.size();
  }
  EXPECT_TRUE(keys.count(shapeKey(make("scale", 10, a + 64, 32, 7).call)));
}

TEST_F(LaunchKeyTest, BuffersAreWhatPointersPointInto) {
  const uintptr_t a = add(4096).base, b = add(4096).base, c = add(4096).base;
  const uint64_t key = buffers(make("add", 1, c, a, b, 64));
  // Wherever in them, and whatever the numbers are.
  EXPECT_EQ(buffers(make("add", 7, c + 64, a + 100, b + 4095, 32)), key);
  // In this order, and as many.
  std::set<uint64_t> keys{key};
  EXPECT_TRUE(keys.insert(buffers(make("add", 1, c, b, a, 64))).second);
  EXPECT_TRUE(keys.insert(buffers(make("add", 1, a, a, b, 64))).second);
  EXPECT_TRUE(keys.insert(buffers(make("stencil", 1, c, a, 64))).second);
  EXPECT_TRUE(keys.insert(buffers(make("spill", 1, c, a, 64))).second);
  // Memory that is in no buffer counts as it is.
  EXPECT_TRUE(
      keys.insert(buffers(make("add", 1, c, a, uintptr_t(64), 64))).second);
  EXPECT_TRUE(
      keys.insert(buffers(make("add", 1, c, a, uintptr_t(128), 64))).second);
}

TEST_F(LaunchKeyTest, LibraryCallsHaveTheirFunctionForAKernel) {
  std::set<uint64_t> keys;
  EXPECT_TRUE(keys.insert(buffersKey("gemm", {4096, 8192})).second);
  EXPECT_TRUE(keys.insert(buffersKey("gemm", {8192, 4096})).second);
  EXPECT_TRUE(keys.insert(buffersKey("gemm", {4096})).second);
  EXPECT_TRUE(keys.insert(buffersKey("gemv", {4096, 8192})).second);
  EXPECT_FALSE(keys.insert(buffersKey("gemm", {4096, 8192})).second);
}

TEST_F(LaunchKeyTest, FootprintsHaveTheBytesThatAddressesDependOn) {
  FootprintKeys of;
  const uintptr_t a = 4096, c = 8192;
  const std::string key = of.of(make("copyRest", 10, c, a, 640, 3).call);
  EXPECT_EQ(of.of(make("copyRest", 10, c, a, 640, 3).call), key);
  std::set<std::string> keys{key};
  for (const Call &other :
       {make("copyRest", 10, c + 4, a, 640, 3),
        make("copyRest", 10, c, a + 4, 640, 3),
        make("copyRest", 10, c, a, 641, 3), make("copyRest", 10, c, a, 640, 4),
        make("copyRest", 11, c, a, 640, 3)})
    EXPECT_TRUE(keys.insert(of.of(other.call)).second) << keys.size();
  Call together = make("copyRest", 10, c, a, 640, 3);
  together.call.cooperative = true;
  EXPECT_TRUE(keys.insert(of.of(together.call)).second);
  together.call.cooperative = false;
  together.call.dynamicSharedBytes = 100;
  together.call.queue = Device::PerThreadQueue;
  EXPECT_EQ(of.of(together.call), key);
  // A factor is no address; what is behind its four bytes is nobody's.
  const std::string scale = of.of(make("scale", 10, a, 640, 3).call);
  EXPECT_EQ(of.of(make("scale", 10, a, 640, 9).call), scale);
  Call dirty = make("scale", 10, a, 640, 3);
  dirty.words[1] |= uint64_t(7) << 40;
  EXPECT_EQ(of.of(dirty.call), scale);
  of.clear();
  EXPECT_EQ(of.of(make("scale", 10, a, 640, 3).call), scale);
}

} // namespace
