//===- CallFixture.h - launches on buffers that hold nothing ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is found out about launches before they run: there is no device, and
// buffers are addresses.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_LAUNCH_CALLFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_LAUNCH_CALLFIXTURE_H

#include "runtime/memory/AddressSpace.h"
#include "test/unit/support/launch/TestKernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <vector>

namespace dragon::test {

class CallFixture : public testing::Test {
protected:
  static constexpr unsigned Threads = 64; ///< of a block

  void SetUp() override { ASSERT_TRUE(kernels.Good) << kernels.Error; }

  Buffer &add(size_t bytes, size_t chunkBytes = 4096) {
    Buffer &buffer = Buffers.emplace_back();
    buffer.base = (uintptr_t(1) << 44) + (Buffers.size() << 30);
    buffer.bytes = bytes;
    buffer.vaBytes = (bytes + 511) / 512 * 512;
    buffer.chunkBytes = chunkBytes;
    buffer.makeChunks();
    Index.insert({buffer.base, bytes, 0, false, "", &buffer});
    return buffer;
  }

  /// A launch, with its arguments.
  struct Call {
    LaunchCall call{};
    std::vector<uint64_t> words;
    std::vector<void *> args;
    Call() = default;
    Call(Call &&) = default;
    Call(const Call &) = delete;
  };
  template <typename... Args>
  Call make(const char *kernel, unsigned blocks, Args... values) {
    Call made;
    auto put = [&made](auto value) {
      made.words.push_back(0);
      std::memcpy(&made.words.back(), &value, sizeof(value));
    };
    (put(values), ...);
    for (uint64_t &word : made.words)
      made.args.push_back(&word);
    made.call.kernel = kernels.find(kernel);
    made.call.grid[0] = blocks;
    made.call.block[0] = Threads;
    for (unsigned axis : {1, 2})
      made.call.grid[axis] = made.call.block[axis] = 1;
    made.call.args = made.args.data();
    made.call.numArgs = uint32_t(made.args.size());
    return made;
  }

  TestKernels kernels;
  std::list<Buffer> Buffers;
  AddressIndex Index;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_LAUNCH_CALLFIXTURE_H
