//===- pieces.cu - a buffer that is made and checked piece by piece -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One buffer of nearly the machine's whole host memory: the program makes a
// piece of it at a time, copies it to its place, runs a kernel over the whole
// buffer twice, and copies the results back and checks them piece by piece, in
// the memory of one piece. All are checked. The clock stands while a piece is
// made or checked.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>

using namespace bench;

BENCH_BOTH static float changed(float x) { return 0.75f * x + 1.0f; }

__global__ void change(float *data, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = changed(data[i]);
}

static float startValue(size_t i) { return uniform(mix(i, 1), -1, 1); }

int main(int argc, char **argv) {
  Bench bench("pieces", argc, argv, 2);
  size_t n = (bench.size / sizeof(float)) | 1;
  const size_t most = std::max<size_t>(1, std::min(n / 16, size_t{1} << 28));
  float *h_piece = (float *)hostMemory(most * sizeof(float), bench.pinned);
  int steps = bench.steps;

  start(bench, n * sizeof(float), n * sizeof(float), n * sizeof(float));
  float *d_data;
  CHECK(cudaMalloc(&d_data, n * sizeof(float)));
  for (size_t first = 0; first < n; first += most) {
    size_t count = std::min(most, n - first);
    double since = bench.pauseBegins();
    onAllCores(count, [=](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i)
        h_piece[i] = startValue(first + i);
    });
    bench.pauseEnds(since);
    CHECK(cudaMemcpy(d_data + first, h_piece, count * sizeof(float),
                     cudaMemcpyHostToDevice));
  }
  loaded(bench);
  for (int step = 0; step < steps; ++step)
    change<<<(unsigned)((n + 255) / 256), 256>>>(d_data, n);
  computed(bench);

  Verdict verdict;
  for (size_t first = 0; first < n; first += most) {
    size_t count = std::min(most, n - first);
    CHECK(cudaMemcpy(h_piece, d_data + first, count * sizeof(float),
                     cudaMemcpyDeviceToHost));
    double since = bench.pauseBegins();
    Array piece;
    piece.data = h_piece;
    piece.count = count;
    piece.element = sizeof(float);
    auto expected = [=](size_t i) {
      float x = startValue(first + i);
      for (int step = 0; step < steps; ++step)
        x = changed(x);
      return x;
    };
    check<float>(piece, All, expected, verdict);
    bench.pauseEnds(since);
  }
  stored(bench);
  CHECK(cudaFree(d_data));
  return bench.finish(verdict);
}
