//===- atax.cu - A transposed, times A times x ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = At (A x), the matrix row-major. The first kernel has a thread for each
// row of the matrix, the second for each column: slices of its grid touch every
// chunk of the matrix, a little of each. So the same data are wanted in two
// orders, one of which is the wrong one.
//
// All results are checked: the host computes both products again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <cmath>

using namespace bench;

__global__ void rowProducts(const float *a, const float *x, float *t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < n; ++j)
    sum += a[(size_t)i * n + j] * x[j];
  t[i] = sum;
}

__global__ void columnProducts(const float *a, const float *t, float *y,
                               int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n)
    return;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[(size_t)i * n + j] * t[i];
  y[j] = sum;
}

static float elementA(size_t i) { return uniform(mix(i, 1), -1, 1); }
static float elementX(size_t i) { return uniform(mix(i, 2), -1, 1); }

static std::vector<float> product(size_t n) {
  std::vector<float> t(n), y(n);
  onAllCores(n, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
      for (size_t j = 0; j < n; ++j)
        t[i] += elementA(i * n + j) * elementX(j);
  });
  onAllCores(n, [&](size_t first, size_t last) {
    for (size_t i = 0; i < n; ++i)
      for (size_t j = first; j < last; ++j)
        y[j] += elementA(i * n + j) * t[i];
  });
  return y;
}

int main(int argc, char **argv) {
  Bench bench("atax", argc, argv);
  int n = (int)std::sqrt((double)(bench.size / sizeof(float))) | 1;
  size_t vector = n * sizeof(float), bytes = (size_t)n * vector;
  Input a(bench, "a", (size_t)n * n, sizeof(float), each<float, elementA>);
  Input x(bench, "x", n, sizeof(float), each<float, elementX>);
  Output y(bench, "y", n, sizeof(float));
  const int threads = 128;
  int blocks = (n + threads - 1) / threads;

  start(bench, bytes + 3 * vector, bytes + vector, vector);
  FILE *file = create(y);
  float *d_a, *d_x, *d_t, *d_y;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_x, vector));
  CHECK(cudaMalloc(&d_t, vector));
  CHECK(cudaMalloc(&d_y, vector));
  load(d_a, a, bytes, bench);
  load(d_x, x, vector, bench);
  loaded(bench);
  rowProducts<<<blocks, threads>>>(d_a, d_x, d_t, n);
  columnProducts<<<blocks, threads>>>(d_a, d_t, d_y, n);
  computed(bench);
  store(y, file, d_y, vector, bench);
  stored(bench);
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_x));
  CHECK(cudaFree(d_t));
  CHECK(cudaFree(d_y));

  Verdict verdict;
  std::vector<float> right = product((size_t)n);
  auto expected = [&](size_t i) { return right[i]; };
  check<float>(y, All, expected, verdict);
  return bench.finish(verdict);
}
