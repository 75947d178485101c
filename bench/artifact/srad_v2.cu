//===- srad_v2.cu - speckle-reducing anisotropic diffusion ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/srad_v2.h"

// The image is read and written: a map of the output, to which the host copies
// the input. The derivatives are intermediate, and dropped after each iteration
// by dragon_remap.
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
  Between north(bench, "north"), south(bench, "south"), west(bench, "west"),
      east(bench, "east"), c(bench, "c");

  start(bench, 6 * bytes + sizeof(float), bytes, bytes);
  float *d_before = map<float>(before, bytes, D_F_READ);
  float *d_image = map<float>(after, bytes, D_F_READ | D_F_WRITE | D_F_CREATE);
  memcpy(d_image, d_before, bytes);
  MAP(dragon_unmap(d_before));
  float *d_north = map<float>(north, bytes, Intermediate);
  float *d_south = map<float>(south, bytes, Intermediate);
  float *d_west = map<float>(west, bytes, Intermediate);
  float *d_east = map<float>(east, bytes, Intermediate);
  float *d_c = map<float>(c, bytes, Intermediate);
  float *d_speckle;
  CHECK(cudaMalloc(&d_speckle, sizeof(float)));
  loaded(bench);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    measureSpeckle<<<1, RegionThreads>>>(d_image, d_speckle);
    coefficients<<<blocks, threads>>>(d_image, d_speckle, d_north, d_south,
                                      d_west, d_east, d_c, rows);
    diffuse<<<blocks, threads>>>(d_image, d_north, d_south, d_west, d_east, d_c,
                                 rows);
    for (float *each : {d_north, d_south, d_west, d_east, d_c})
      MAP(dragon_remap(each, Intermediate));
  }
  computed(bench);
  MAP(dragon_unmap(d_image));
  stored(bench);
  for (float *each : {d_north, d_south, d_west, d_east, d_c})
    MAP(dragon_unmap(each));
  for (const Between *each : {&north, &south, &west, &east, &c})
    remove(each->path.c_str());
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
