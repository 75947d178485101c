//===- bicg.cu - the two products of the BiCG method ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// s = At r, q = A p, the matrix row-major: first by columns, then by rows (see
// Products.h).
//
// All results are checked: the host computes both products again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Products.h"

using namespace bench;

__global__ void columns(const float *a, const float *r, float *s, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n)
    s[j] = columnProduct(a, r, j, n, 0);
}

__global__ void rows(const float *a, const float *p, float *q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    q[i] = rowProduct(a, p, i, n, 0);
}

static void checkProducts(Output &s, Output &q, Verdict &verdict) {
  std::vector<float> rightS(s.count), rightQ(q.count);
  addColumnProducts(rightS, elementOf<1>);
  addRowProducts(rightQ, elementOf<2>);
  check<float>(s, All, [&](size_t j) { return rightS[j]; }, verdict);
  check<float>(q, All, [&](size_t i) { return rightQ[i]; }, verdict);
}

int main(int argc, char **argv) {
  Bench bench("bicg", argc, argv);
  int n = widthOf(bench.size);
  size_t vector = n * sizeof(float), bytes = (size_t)n * vector;
  Input a(bench, "a", (size_t)n * n, sizeof(float), each<float, elementA>);
  Input r(bench, "r", n, sizeof(float), each<float, elementOf<1>>);
  Input p(bench, "p", n, sizeof(float), each<float, elementOf<2>>);
  Output s(bench, "s", n, sizeof(float));
  Output q(bench, "q", n, sizeof(float));
  const int threads = 128;
  int blocks = (n + threads - 1) / threads;

  bench.touched = bytes + 4 * vector;
  start(bench, bytes + 4 * vector, bytes + 2 * vector, 2 * vector);
  FILE *fileS = create(s), *fileQ = create(q);
  float *d_a, *d_r, *d_p, *d_s, *d_q;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_r, vector));
  CHECK(cudaMalloc(&d_p, vector));
  CHECK(cudaMalloc(&d_s, vector));
  CHECK(cudaMalloc(&d_q, vector));
  load(d_a, a, bytes, bench);
  load(d_r, r, vector, bench);
  load(d_p, p, vector, bench);
  loaded(bench);
  columns<<<blocks, threads>>>(d_a, d_r, d_s, n);
  rows<<<blocks, threads>>>(d_a, d_p, d_q, n);
  computed(bench);
  store(s, fileS, d_s, vector, bench);
  store(q, fileQ, d_q, vector, bench);
  stored(bench);
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_r));
  CHECK(cudaFree(d_p));
  CHECK(cudaFree(d_s));
  CHECK(cudaFree(d_q));

  Verdict verdict;
  checkProducts(s, q, verdict);
  return bench.finish(verdict);
}
