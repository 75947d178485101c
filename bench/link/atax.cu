//===- atax.cu - A transposed, times A times x ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = At (A x), the matrix row-major. The first kernel has a thread for each
// row of the matrix, the second for each column (see Products.h).
//
// All results are checked: the host computes both products again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Products.h"

using namespace bench;

__global__ void rowProducts(const float *a, const float *x, float *t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    t[i] = rowProduct(a, x, i, n, 0);
}

__global__ void columnProducts(const float *a, const float *t, float *y,
                               int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n)
    y[j] = columnProduct(a, t, j, n, 0);
}

int main(int argc, char **argv) {
  Bench bench("atax", argc, argv);
  int n = widthOf(bench.size);
  size_t vector = n * sizeof(float), bytes = (size_t)n * vector;
  Input a(bench, "a", (size_t)n * n, sizeof(float), each<float, elementA>);
  Input x(bench, "x", n, sizeof(float), each<float, elementOf<1>>);
  Output y(bench, "y", n, sizeof(float));
  const int threads = 128;
  int blocks = (n + threads - 1) / threads;

  bench.touched = bytes + 3 * vector;
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
  std::vector<float> t(n), right(n);
  addRowProducts(t, elementOf<1>);
  addColumnProducts(right, [&](size_t i) { return t[i]; });
  auto expected = [&](size_t i) { return right[i]; };
  check<float>(y, All, expected, verdict);
  return bench.finish(verdict);
}
