//===- hotspot.h - heat diffusion on a chip ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A five-point stencil on a grid of rows x Cols cells, clamped at the borders,
// heated by the power that each cell consumes; one launch a step, two
// temperature buffers that change roles. Some cells are computed again on the
// host, each from the cells that it depends on.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_HOTSPOT_H
#define DRAGON_BENCH_LINK_HOTSPOT_H

#include "Data.h"

#include <algorithm>

using namespace bench;

const int Cols = 8195; // rows begin anywhere in a chunk

__host__ __device__ static float diffused(float here, float north, float south,
                                          float west, float east, float power) {
  float flow = north + south + west + east - 4.0f * here;
  return here + 0.12f * flow + 0.05f * power - 0.002f * (here - 45.0f);
}

__global__ void diffuse(const float *temp, const float *power, float *next,
                        int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols)
    return;
  int north = row > 0 ? row - 1 : 0;
  int south = row < rows - 1 ? row + 1 : rows - 1;
  int west = col > 0 ? col - 1 : 0;
  int east = col < cols - 1 ? col + 1 : cols - 1;
  size_t center = (size_t)row * cols + col;
  next[center] = diffused(temp[center], temp[(size_t)north * cols + col],
                          temp[(size_t)south * cols + col],
                          temp[(size_t)row * cols + west],
                          temp[(size_t)row * cols + east], power[center]);
}

static float startTemp(size_t i) { return uniform(mix(i, 1), 40, 90); }
static float startPower(size_t i) { return uniform(mix(i, 2), 0, 4); }

// The temperature of a cell after `steps`, by the square around it.
static float cellAfter(int row, int col, int steps, int rows) {
  int side = 2 * steps + 1;
  std::vector<float> now((size_t)side * side), next(now.size());
  auto clampRow = [=](int r) { return std::min(std::max(r, 0), rows - 1); };
  auto clampCol = [](int c) { return std::min(std::max(c, 0), Cols - 1); };
  // Of the square's cell (r, c), at the grid's border that of the border.
  auto at = [=](int r, int c) {
    return (size_t)(clampRow(r) - row + steps) * side +
           (clampCol(c) - col + steps);
  };
  auto inside = [=](int r, int c) {
    return r >= 0 && r < rows && c >= 0 && c < Cols;
  };
  for (int r = row - steps; r <= row + steps; ++r)
    for (int c = col - steps; c <= col + steps; ++c)
      if (inside(r, c))
        now[at(r, c)] = startTemp((size_t)r * Cols + c);
  for (int reach = steps - 1; reach >= 0; --reach) {
    for (int r = row - reach; r <= row + reach; ++r)
      for (int c = col - reach; c <= col + reach; ++c)
        if (inside(r, c))
          next[at(r, c)] =
              diffused(now[at(r, c)], now[at(r - 1, c)], now[at(r + 1, c)],
                       now[at(r, c - 1)], now[at(r, c + 1)],
                       startPower((size_t)r * Cols + c));
    now.swap(next);
  }
  return now[at(row, col)];
}

#endif // DRAGON_BENCH_LINK_HOTSPOT_H
