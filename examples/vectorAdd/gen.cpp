//===- gen.cpp - inputs of vectorAdd --------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two files of N floats in [-1000, 1000), different at every position.
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"

using namespace example;

int main(int argc, char **argv) {
  if (argc != 4)
    fail("usage: gen N A B");
  uint64_t n = parseCount(argv[1]);
  generate<float>(argv[2], n,
                  [](uint64_t i) { return uniform(mix(1, i), -1000, 1000); });
  generate<float>(argv[3], n,
                  [](uint64_t i) { return uniform(mix(2, i), -1000, 1000); });
  return 0;
}
