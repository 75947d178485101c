//===- pathfinder.h - the cheapest way through a wall -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dynamic programming over a wall of Rows x cols costs: from row to row, each
// column takes the cheapest of its three neighbours. A launch goes through
// Height rows, in shared memory; a block gets the columns at its edges wrong
// and leaves them to its neighbours. The wall comes once, row by row; what is
// kept is one row.
//
// Some columns are computed again on the host, each from the triangle above.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_PATHFINDER_H
#define DRAGON_BENCH_LINK_PATHFINDER_H

#include "Data.h"

#include <algorithm>

using namespace bench;

const int Rows = 257;
const int Block = 256;
const int Height = 8;
const int Useful = Block - 2 * Height; // columns that a block gets right

__global__ void advance(const int *wall, const int *from, int *to, int cols,
                        int firstRow, int rows) {
  __shared__ int cost[Block];
  int x = threadIdx.x;
  int col = blockIdx.x * Useful + x - Height;
  bool inside = col >= 0 && col < cols;
  cost[x] = inside ? from[col] : INT_MAX;
  __syncthreads();
  for (int row = firstRow; row < firstRow + rows; ++row) {
    int best = cost[x];
    if (x > 0)
      best = min(best, cost[x - 1]);
    if (x < Block - 1)
      best = min(best, cost[x + 1]);
    __syncthreads();
    if (inside)
      cost[x] = best + wall[(size_t)row * cols + col];
    __syncthreads();
  }
  if (inside && x >= Height && x < Block - Height)
    to[col] = cost[x];
}

static int costAt(size_t i) { return (int)((mix(i, 1) >> 32) % 10); }

static int cheapest(size_t col, size_t cols) {
  std::vector<int> now(2 * Rows + 1), next(now.size());
  const long width = (long)cols, middle = (long)col;
  auto at = [=](long c) { return (size_t)(c - middle + Rows); };
  for (int row = 0; row < Rows; ++row) {
    long reach = Rows - 1 - row;
    for (long c = std::max(middle - reach, 0L);
         c <= std::min(middle + reach, width - 1); ++c) {
      int best = row ? now[at(c)] : 0;
      if (row && c > 0)
        best = std::min(best, now[at(c - 1)]);
      if (row && c + 1 < width)
        best = std::min(best, now[at(c + 1)]);
      next[at(c)] = best + costAt((size_t)row * cols + (size_t)c);
    }
    now.swap(next);
  }
  return now[at(middle)];
}

#endif // DRAGON_BENCH_LINK_PATHFINDER_H
