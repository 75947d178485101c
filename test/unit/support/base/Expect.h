//===- Expect.h - what tests expect of a Status --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_BASE_EXPECT_H
#define DRAGON_TEST_UNIT_SUPPORT_BASE_EXPECT_H

#include "runtime/base/Status.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace dragon::test {

constexpr uint64_t MiB = 1 << 20;

/// EXPECT_TRUE(status.ok()), with the message.
#define EXPECT_OK(expr)                                                        \
  do {                                                                         \
    ::dragon::Status expectStatus = (expr);                                    \
    EXPECT_TRUE(expectStatus.ok()) << expectStatus.message();                  \
  } while (false)
#define ASSERT_OK(expr)                                                        \
  do {                                                                         \
    ::dragon::Status expectStatus = (expr);                                    \
    ASSERT_TRUE(expectStatus.ok()) << expectStatus.message();                  \
  } while (false)

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_BASE_EXPECT_H
