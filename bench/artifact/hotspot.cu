//===- hotspot.cu - heat diffusion on a chip -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/hotspot.h"

// The temperatures are an input that later steps write: read, written, and not
// kept, which is what D_F_VOLATILE is for. Volatile maps begin as zeros, so the
// first step reads a map of the file.
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
  Between odd(bench, "odd"), even(bench, "even");

  start(bench, 3 * bytes, 2 * bytes, bytes);
  float *d_temp = map<float>(temp, bytes, D_F_READ | D_F_USEHOSTBUF);
  float *d_power = map<float>(power, bytes, D_F_READ);
  float *d_out = map<float>(out, bytes, D_F_WRITE | D_F_CREATE);
  float *d_between[2] = {map<float>(odd, bytes, Intermediate),
                         map<float>(even, bytes, Intermediate)};
  loaded(bench);
  const float *from = d_temp;
  for (int step = 0; step < steps; ++step) {
    float *to = step + 1 == steps ? d_out : d_between[step % 2];
    diffuse<<<blocks, threads>>>(from, d_power, to, rows, Cols);
    from = to;
  }
  computed(bench);
  for (float *each : {d_temp, d_power, d_out, d_between[0], d_between[1]})
    MAP(dragon_unmap(each));
  stored(bench);
  remove(odd.path.c_str());
  remove(even.path.c_str());

  Verdict verdict;
  auto expected = [=](size_t i) {
    return cellAfter((int)(i / Cols), (int)(i % Cols), steps, rows);
  };
  check<float>(out, 1 << 14, expected, verdict);
  return bench.finish(verdict);
}
