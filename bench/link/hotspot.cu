//===- hotspot.cu - heat diffusion on a chip -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "hotspot.h"

#include <algorithm>

int main(int argc, char **argv) {
  Bench bench("hotspot", argc, argv, 8);
  int rows = (int)std::max<size_t>(2, bench.size / (3 * sizeof(float) * Cols));
  int steps = bench.steps;
  size_t cells = (size_t)rows * Cols;
  size_t bytes = cells * sizeof(float);
  dim3 threads(32, 8);
  dim3 blocks((Cols + threads.x - 1) / threads.x,
              (rows + threads.y - 1) / threads.y);
  if (blocks.y > 65535)
    fail("hotspot: too many rows");
  Input temp(bench, "temp", cells, sizeof(float), each<float, startTemp>);
  Input power(bench, "power", cells, sizeof(float), each<float, startPower>);
  Output out(bench, "out", cells, sizeof(float));

  start(bench, 3 * bytes, 2 * bytes, bytes);
  FILE *file = create(out);
  float *d_temp, *d_next, *d_power;
  CHECK(cudaMalloc(&d_temp, bytes));
  CHECK(cudaMalloc(&d_next, bytes));
  CHECK(cudaMalloc(&d_power, bytes));
  load(d_temp, temp, bytes, bench);
  load(d_power, power, bytes, bench);
  loaded(bench);
  for (int step = 0; step < steps; ++step) {
    diffuse<<<blocks, threads>>>(d_temp, d_power, d_next, rows, Cols);
    float *swap = d_temp;
    d_temp = d_next;
    d_next = swap;
  }
  computed(bench);
  store(out, file, d_temp, bytes, bench);
  stored(bench);
  CHECK(cudaFree(d_temp));
  CHECK(cudaFree(d_next));
  CHECK(cudaFree(d_power));

  Verdict verdict;
  auto expected = [=](size_t i) {
    return cellAfter((int)(i / Cols), (int)(i % Cols), steps, rows);
  };
  check<float>(out, 1 << 14, expected, verdict);
  return bench.finish(verdict);
}
