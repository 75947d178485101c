//===- srad_v2.cu - speckle-reducing anisotropic diffusion ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "srad_v2.h"

#include <algorithm>

int main(int argc, char **argv) {
  Bench bench("srad_v2", argc, argv, 2);
  int rows =
      (int)std::max<size_t>(Region, bench.size / (6 * sizeof(float) * Cols));
  int iterations = bench.steps;
  size_t cells = (size_t)rows * Cols;
  size_t bytes = cells * sizeof(float);
  dim3 threads(32, 8);
  dim3 blocks((Cols + threads.x - 1) / threads.x,
              (rows + threads.y - 1) / threads.y);
  if (blocks.y > 65535)
    fail("srad_v2: too many rows");
  Input before(bench, "before", cells, sizeof(float), each<float, startValue>);
  Output after(bench, "after", cells, sizeof(float));

  start(bench, 6 * bytes + sizeof(float), bytes, bytes);
  FILE *file = create(after);
  float *d_image, *d_north, *d_south, *d_west, *d_east, *d_c, *d_speckle;
  CHECK(cudaMalloc(&d_image, bytes));
  CHECK(cudaMalloc(&d_north, bytes));
  CHECK(cudaMalloc(&d_south, bytes));
  CHECK(cudaMalloc(&d_west, bytes));
  CHECK(cudaMalloc(&d_east, bytes));
  CHECK(cudaMalloc(&d_c, bytes));
  CHECK(cudaMalloc(&d_speckle, sizeof(float)));
  load(d_image, before, bytes, bench);
  loaded(bench);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    measureSpeckle<<<1, RegionThreads>>>(d_image, d_speckle);
    coefficients<<<blocks, threads>>>(d_image, d_speckle, d_north, d_south,
                                      d_west, d_east, d_c, rows);
    diffuse<<<blocks, threads>>>(d_image, d_north, d_south, d_west, d_east, d_c,
                                 rows);
  }
  computed(bench);
  store(after, file, d_image, bytes, bench);
  stored(bench);
  CHECK(cudaFree(d_image));
  CHECK(cudaFree(d_north));
  CHECK(cudaFree(d_south));
  CHECK(cudaFree(d_west));
  CHECK(cudaFree(d_east));
  CHECK(cudaFree(d_c));
  CHECK(cudaFree(d_speckle));

  Verdict verdict;
  std::vector<float> speckle = speckles(iterations, rows);
  const std::vector<float> *inEach = &speckle;
  auto right = [=](size_t i) {
    int row = (int)(i / Cols), col = (int)(i % Cols), reach = 2 * iterations;
    Part part(row - reach, row + reach + 1, col - reach, col + reach + 1, rows);
    for (float one : *inEach)
      part.iterate(one);
    return part.at(row, col);
  };
  check<float>(after, 1 << 16, right, verdict);
  return bench.finish(verdict);
}
