//===- gen.cpp - inputs of backprop ---------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// COUNT samples of 32 floats in [-1, 1), a target in (0, 1) for each that
// depends on the first of them, and starting weights in [-0.5, 0.5).
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"

#include <cmath>

using namespace example;

int main(int argc, char **argv) {
  if (argc != 5)
    fail("usage: gen COUNT SAMPLES TARGETS WEIGHTS");
  const uint64_t count = parseCount(argv[1]), inputs = 32, hidden = 32;
  auto sample = [](uint64_t i) { return uniform(mix(41, i), -1, 1); };
  generate<float>(argv[2], count * inputs, sample);
  generate<float>(argv[3], count, [&](uint64_t i) {
    float x = sample(i * inputs), y = sample(i * inputs + 1),
          z = sample(i * inputs + 2);
    return 1.0f / (1.0f + std::exp(2.0f * x - 3.0f * y + z));
  });
  generate<float>(argv[4], inputs * hidden + hidden,
                  [](uint64_t i) { return uniform(mix(42, i), -0.5f, 0.5f); });
  return 0;
}
