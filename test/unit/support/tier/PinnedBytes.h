//===- PinnedBytes.h - what the kernel has pinned of us ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_TIER_PINNEDBYTES_H
#define DRAGON_TEST_UNIT_SUPPORT_TIER_PINNEDBYTES_H

#include <cstdint>
#include <fstream>
#include <string>
#include <unistd.h>

namespace dragon::test {

/// What the kernel has pinned of this process for long. It may be a while until
/// it no longer has: waits for that, if `expected` is less.
inline uint64_t pinnedBytes(uint64_t expected = UINT64_MAX) {
  uint64_t bytes = 0;
  for (int tries = 0; tries < 1000; ++tries) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (word == "VmPin:" && status >> bytes)
        bytes *= 1024;
    if (bytes <= expected)
      break;
    ::usleep(10000);
  }
  return bytes;
}

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_TIER_PINNEDBYTES_H
