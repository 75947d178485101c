//===- check.cpp - checks the output of pathfinder ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same recurrence, one row after the other. Integers: exact.
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"

#include <algorithm>

using namespace example;

int main(int argc, char **argv) {
  if (argc != 5)
    fail("usage: check ROWS COLS WALL OUT");
  const uint64_t rows = parseCount(argv[1]), cols = parseCount(argv[2]);
  const size_t rowBytes = cols * sizeof(int32_t);
  File wallFile(argv[3], "rb"), outFile(argv[4], "rb");
  outFile.expectSize(rowBytes);

  // One more cell at each end, which no way crosses.
  const int32_t wall = INT32_MAX;
  std::vector<int32_t> cost(cols + 2, wall), next(cols + 2, wall), row(cols);
  wallFile.read(&cost[1], rowBytes);
  for (uint64_t r = 1; r < rows; ++r) {
    wallFile.read(row.data(), rowBytes);
    for (uint64_t c = 1; c <= cols; ++c)
      next[c] = row[c - 1] + std::min({cost[c - 1], cost[c], cost[c + 1]});
    cost.swap(next);
  }

  outFile.read(row.data(), rowBytes);
  Report report;
  for (uint64_t c = 0; c < cols; ++c)
    if (row[c] != cost[c + 1])
      report.wrong(c, row[c], cost[c + 1]);
  return report.finish(cols);
}
