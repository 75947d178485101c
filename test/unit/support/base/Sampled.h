//===- Sampled.h - how many cases a test tries ------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_BASE_SAMPLED_H
#define DRAGON_TEST_UNIT_SUPPORT_BASE_SAMPLED_H

#include <cstdint>

namespace dragon::test {

/// Of so many random cases: all, or the first eighth with a sanitizer. Each one
/// takes twenty times as long there, and the other build compares the results of
/// all.
constexpr uint32_t sampled(uint32_t cases) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return cases / 8;
#else
  return cases;
#endif
}

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_BASE_SAMPLED_H
