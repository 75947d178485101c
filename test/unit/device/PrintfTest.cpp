//===- PrintfTest.cpp - printf as kernels call it -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/DevicePrintf.h"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

using namespace dragon;

namespace {

std::string format(const char *text, const void *arguments, int expectTaken) {
  std::string out;
  EXPECT_EQ(formatDevicePrintf(out, text, arguments), expectTaken);
  return out;
}

TEST(DevicePrintf, ArgumentsHaveTheirNaturalAlignment) {
  struct {
    int32_t a = -3;
    double b = 2.5;
    int32_t c = 'x';
    const char *d = "text";
    uint64_t e = 1ull << 40;
    uint32_t f = 255;
  } args;
  EXPECT_EQ(format("%d %.2f %c %s %llu %#x|\n", &args, 6),
            "-3 2.50 x text 1099511627776 0xff|\n");
}

TEST(DevicePrintf, WidthAndPrecisionFromArguments) {
  struct {
    int32_t width = 8, precision = 3;
    double value = 3.14159;
    int32_t width2 = -5;
    int32_t number = 42;
  } args;
  EXPECT_EQ(format("[%*.*f][%*d]", &args, 5), "[   3.142][42   ]");
}

TEST(DevicePrintf, SizesOfIntegers) {
  struct {
    int64_t a = -1;
    int32_t b = -1;
    int32_t c = 300;
    uint64_t d = 7;
  } args;
  EXPECT_EQ(format("%ld %hd %hhd %zu", &args, 4), "-1 -1 44 7");
}

TEST(DevicePrintf, PercentNullAndUnknown) {
  EXPECT_EQ(format("100%% %y %", nullptr, 0), "100% %y %");
  const char *null = nullptr;
  EXPECT_EQ(format("%s", &null, 1), "(null)");
  std::string out;
  EXPECT_EQ(formatDevicePrintf(out, nullptr, nullptr), -1);
}

TEST(DevicePrintf, LongResults) {
  std::string longText(5000, 'a');
  const char *argument = longText.c_str();
  EXPECT_EQ(format("<%s>", &argument, 1), "<" + longText + ">");
}

} // namespace
