//===- mvt.cu - a matrix, and its transpose, times two vectors ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x1 += A y1, x2 += At y2, the matrix row-major: one kernel with a thread for
// each row, one with a thread for each column (see Products.h).
//
// All results are checked: the host computes both products again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Products.h"

using namespace bench;

__global__ void addRows(const float *a, const float *y1, float *x1, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x1[i] = rowProduct(a, y1, i, n, x1[i]);
}

__global__ void addColumns(const float *a, const float *y2, float *x2, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n)
    x2[j] = columnProduct(a, y2, j, n, x2[j]);
}

static void checkProducts(Output &x1, Output &x2, Verdict &verdict) {
  std::vector<float> right1(x1.count), right2(x2.count);
  for (size_t i = 0; i < x1.count; ++i) {
    right1[i] = elementOf<1>(i);
    right2[i] = elementOf<2>(i);
  }
  addRowProducts(right1, elementOf<3>);
  addColumnProducts(right2, elementOf<4>);
  check<float>(x1, All, [&](size_t i) { return right1[i]; }, verdict);
  check<float>(x2, All, [&](size_t i) { return right2[i]; }, verdict);
}

int main(int argc, char **argv) {
  Bench bench("mvt", argc, argv);
  int n = widthOf(bench.size);
  size_t vector = n * sizeof(float), bytes = (size_t)n * vector;
  Input a(bench, "a", (size_t)n * n, sizeof(float), each<float, elementA>);
  Input x1(bench, "x1", n, sizeof(float), each<float, elementOf<1>>);
  Input x2(bench, "x2", n, sizeof(float), each<float, elementOf<2>>);
  Input y1(bench, "y1", n, sizeof(float), each<float, elementOf<3>>);
  Input y2(bench, "y2", n, sizeof(float), each<float, elementOf<4>>);
  Output sum1(bench, "sum1", n, sizeof(float));
  Output sum2(bench, "sum2", n, sizeof(float));
  const int threads = 128;
  int blocks = (n + threads - 1) / threads;

  bench.touched = bytes + 4 * vector;
  start(bench, bytes + 4 * vector, bytes + 4 * vector, 2 * vector);
  FILE *file1 = create(sum1), *file2 = create(sum2);
  float *d_a, *d_x1, *d_x2, *d_y1, *d_y2;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_x1, vector));
  CHECK(cudaMalloc(&d_x2, vector));
  CHECK(cudaMalloc(&d_y1, vector));
  CHECK(cudaMalloc(&d_y2, vector));
  load(d_a, a, bytes, bench);
  load(d_x1, x1, vector, bench);
  load(d_x2, x2, vector, bench);
  load(d_y1, y1, vector, bench);
  load(d_y2, y2, vector, bench);
  loaded(bench);
  addRows<<<blocks, threads>>>(d_a, d_y1, d_x1, n);
  addColumns<<<blocks, threads>>>(d_a, d_y2, d_x2, n);
  computed(bench);
  store(sum1, file1, d_x1, vector, bench);
  store(sum2, file2, d_x2, vector, bench);
  stored(bench);
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_x1));
  CHECK(cudaFree(d_x2));
  CHECK(cudaFree(d_y1));
  CHECK(cudaFree(d_y2));

  Verdict verdict;
  checkProducts(sum1, sum2, verdict);
  return bench.finish(verdict);
}
