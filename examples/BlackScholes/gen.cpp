//===- gen.cpp - inputs of BlackScholes -----------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three files of N floats: stock prices in [5, 30), strike prices in [1, 100),
// years to expiry in [0.25, 10).
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"

using namespace example;

int main(int argc, char **argv) {
  if (argc != 5)
    fail("usage: gen N STOCK STRIKE YEARS");
  uint64_t n = parseCount(argv[1]);
  generate<float>(argv[2], n,
                  [](uint64_t i) { return uniform(mix(11, i), 5, 30); });
  generate<float>(argv[3], n,
                  [](uint64_t i) { return uniform(mix(12, i), 1, 100); });
  generate<float>(argv[4], n,
                  [](uint64_t i) { return uniform(mix(13, i), 0.25f, 10); });
  return 0;
}
