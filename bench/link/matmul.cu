//===- matmul.cu - a product of square matrices, in tiles -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C = A B, row-major. A block computes a tile of 64 x 64 elements of C, a
// thread 4 x 4 of them, from tiles of A and B in shared memory. Rows of A are
// used by one row of blocks, columns of B by one column of them: with less
// device memory than data, what is kept decides how often the rest comes.
//
// Each element is a chain of fused multiply-adds in the order of k, so a sample
// of them is computed again on the host to the same bits.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <cmath>

using namespace bench;

const int Tile = 64, Depth = 16, Each = 4;

__global__ void multiply(const float *a, const float *b, float *c, int n) {
  __shared__ float tileA[Tile][Depth + 1];
  __shared__ float tileB[Depth][Tile];
  int row = blockIdx.y * Tile, col = blockIdx.x * Tile;
  int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
  float sum[Each][Each] = {};
  for (int first = 0; first < n; first += Depth) {
    // 256 threads load 64 x 16 elements of A, 16 x 64 of B.
    for (int e = 0; e < 4; ++e) {
      int i = thread / Depth + e * 16, k = thread % Depth;
      tileA[i][k] = row + i < n && first + k < n
                        ? a[(size_t)(row + i) * n + first + k]
                        : 0.0f;
      int j = thread % Tile, l = thread / Tile + e * 4;
      tileB[l][j] = first + l < n && col + j < n
                        ? b[(size_t)(first + l) * n + col + j]
                        : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < Depth; ++k) {
      for (int i = 0; i < Each; ++i)
        for (int j = 0; j < Each; ++j)
          sum[i][j] =
              fmaf(tileA[y + i * 16][k], tileB[k][x + j * 16], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < Each; ++i)
    for (int j = 0; j < Each; ++j) {
      int r = row + y + i * 16, s = col + x + j * 16;
      if (r < n && s < n)
        c[(size_t)r * n + s] = sum[i][j];
    }
}

static float elementA(size_t i) { return uniform(mix(i, 1), -1, 1); }
static float elementB(size_t i) { return uniform(mix(i, 2), -1, 1); }

int main(int argc, char **argv) {
  Bench bench("matmul", argc, argv);
  int n = (int)std::sqrt((double)(bench.size / (3 * sizeof(float)))) | 1;
  size_t count = (size_t)n * n;
  size_t bytes = count * sizeof(float);
  Input a(bench, "a", count, sizeof(float), each<float, elementA>);
  Input b(bench, "b", count, sizeof(float), each<float, elementB>);
  Output c(bench, "c", count, sizeof(float));

  start(bench, 3 * bytes, 2 * bytes, bytes);
  FILE *file = create(c);
  float *d_a, *d_b, *d_c;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_b, bytes));
  CHECK(cudaMalloc(&d_c, bytes));
  load(d_a, a, bytes, bench);
  load(d_b, b, bytes, bench);
  loaded(bench);
  dim3 blocks((n + Tile - 1) / Tile, (n + Tile - 1) / Tile);
  multiply<<<blocks, dim3(16, 16)>>>(d_a, d_b, d_c, n);
  computed(bench);
  store(c, file, d_c, bytes, bench);
  stored(bench);
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));

  Verdict verdict;
  auto expected = [=](size_t i) {
    size_t row = i / n, col = i % n;
    float sum = 0;
    for (size_t k = 0; k < (size_t)n; ++k)
      sum = fmaf(elementA(row * n + k), elementB(k * n + col), sum);
    return sum;
  };
  check<float>(c, 4096, expected, verdict);
  return bench.finish(verdict);
}
