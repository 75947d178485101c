//===- check.cpp - checks the output of vectorAdd -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds the inputs on the host. One addition of two floats is rounded the same
// way everywhere, so every bit must agree.
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"

#include <algorithm>

using namespace example;

int main(int argc, char **argv) {
  if (argc != 5)
    fail("usage: check N A B C");
  uint64_t n = parseCount(argv[1]);
  File fileA(argv[2], "rb"), fileB(argv[3], "rb"), fileC(argv[4], "rb");
  fileC.expectSize(n * sizeof(float));

  std::vector<float> a(PieceElements), b(PieceElements), c(PieceElements);
  Report report;
  for (uint64_t first = 0; first < n; first += PieceElements) {
    uint64_t count = std::min(PieceElements, n - first);
    fileA.read(a.data(), count * sizeof(float));
    fileB.read(b.data(), count * sizeof(float));
    fileC.read(c.data(), count * sizeof(float));
    for (uint64_t i = 0; i < count; ++i) {
      float expected = a[i] + b[i];
      if (std::memcmp(&c[i], &expected, sizeof(float)) != 0)
        report.wrong(first + i, c[i], expected);
    }
  }
  return report.finish(n);
}
