//===- Products.h - a matrix times a vector, by rows and by columns -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A square matrix A, row-major, times a vector: a thread goes along a row, and
// for A transposed down a column. Slices of the latter's grid touch every chunk
// of the matrix, a little of each. So the same data are wanted in two orders,
// one of which is the wrong one. The host computes the same with A's elements
// made again.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_PRODUCTS_H
#define DRAGON_BENCH_LINK_PRODUCTS_H

#include "Bench.h"
#include "Exact.h"

#include <cmath>

namespace bench {

/// sum + row i of A times x.
static __device__ inline float rowProduct(const float *a, const float *x, int i,
                                          int n, float sum) {
  for (int j = 0; j < n; ++j)
    sum += a[(size_t)i * n + j] * x[j];
  return sum;
}

/// sum + column j of A times x.
static __device__ inline float columnProduct(const float *a, const float *x,
                                             int j, int n, float sum) {
  for (int i = 0; i < n; ++i)
    sum += a[(size_t)i * n + j] * x[i];
  return sum;
}

/// Element i of the matrix, and of the k-th vector.
inline float elementA(size_t i) { return uniform(mix(i, 1), -1, 1); }
template <int K> float elementOf(size_t i) {
  return uniform(mix(i, K + 1), -1, 1);
}

/// Rows and columns of the matrix that takes `bytes`.
inline int widthOf(size_t bytes) {
  return (int)std::sqrt((double)(bytes / sizeof(float))) | 1;
}

/// y += A x
template <typename X>
void addRowProducts(std::vector<float> &y, const X &elementX) {
  const size_t n = y.size();
  onAllCores(n, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
      for (size_t j = 0; j < n; ++j)
        y[i] += elementA(i * n + j) * elementX(j);
  });
}

/// y += At x
template <typename X>
void addColumnProducts(std::vector<float> &y, const X &elementX) {
  const size_t n = y.size();
  onAllCores(n, [&](size_t first, size_t last) {
    for (size_t i = 0; i < n; ++i)
      for (size_t j = first; j < last; ++j)
        y[j] += elementA(i * n + j) * elementX(i);
  });
}

} // namespace bench

#endif // DRAGON_BENCH_LINK_PRODUCTS_H
