//===- gen.cpp - input of pathfinder --------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ROWS x COLS ints in [0, 1000).
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"

using namespace example;

int main(int argc, char **argv) {
  if (argc != 4)
    fail("usage: gen ROWS COLS WALL");
  generate<int32_t>(argv[3], parseCount(argv[1]) * parseCount(argv[2]),
                    [](uint64_t i) {
                      return static_cast<int32_t>((mix(31, i) >> 40) % 1000);
                    });
  return 0;
}
