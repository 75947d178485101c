//===- gen.cpp - inputs of hotspot ----------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Temperatures in [40, 90) and, in patches of 64 cells, power in [0, 10).
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"

using namespace example;

int main(int argc, char **argv) {
  if (argc != 5)
    fail("usage: gen ROWS COLS TEMP POWER");
  uint64_t cells = parseCount(argv[1]) * parseCount(argv[2]);
  generate<float>(argv[3], cells,
                  [](uint64_t i) { return uniform(mix(21, i), 40, 90); });
  generate<float>(argv[4], cells,
                  [](uint64_t i) { return uniform(mix(22, i / 64), 0, 10); });
  return 0;
}
