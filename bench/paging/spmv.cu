//===- spmv.cu - a sparse matrix times a vector ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = A x, the matrix in compressed sparse rows, whose lengths and columns
// follow power laws (Rows.h). A thread for each row.
//
// All results are checked: the host computes each row again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Rows.h"
#include "Touched.h"

using namespace bench;

__global__ void multiply(const uint64_t *firstEntry, const uint32_t *column,
                         const float *value, const float *x, float *y,
                         uint32_t rows) {
  uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  uint64_t last = firstEntry[row + 1];
  for (uint64_t entry = firstEntry[row]; entry < last; ++entry)
    sum += value[entry] * x[column[entry]];
  y[row] = sum;
}

static float valueAt(size_t entry) { return uniform(mix(entry, 3), -1, 1); }
static float elementX(size_t row) { return uniform(mix(row, 4), -1, 1); }

// The product, and what of x it took.
static std::vector<float> product(Touched &touched) {
  std::vector<float> y(RowCount);
  sumOfRows([&](size_t row, uint64_t entry, uint64_t behind) {
    for (; entry < behind; ++entry) {
      y[row] += valueAt(entry) * elementX(targetAt(entry));
      touched.add(targetAt(entry));
    }
    return 0;
  });
  return y;
}

int main(int argc, char **argv) {
  Bench bench("spmv", argc, argv);
  // 8 bytes for a row's first entry, 8 in the vectors, 8 entries of 8 bytes.
  planRows(std::max<size_t>(2, bench.size / 80));
  size_t entries = PartFirst.back();
  size_t firstBytes = (RowCount + 1) * sizeof(uint64_t);
  size_t entryBytes = entries * sizeof(float);
  size_t vector = RowCount * sizeof(float);
  Input firstEntry(bench, "firstEntry", RowCount + 1, sizeof(uint64_t),
                   makeFirsts);
  Input column(bench, "column", entries, sizeof(uint32_t),
               each<uint32_t, targetAt>);
  Input value(bench, "value", entries, sizeof(float), each<float, valueAt>);
  Input x(bench, "x", RowCount, sizeof(float), each<float, elementX>);
  Output y(bench, "y", RowCount, sizeof(float));
  const int threads = 256;
  unsigned blocks = (unsigned)((RowCount + threads - 1) / threads);

  size_t input = firstBytes + 2 * entryBytes + vector;
  start(bench, input + vector, input, vector);
  FILE *file = create(y);
  uint64_t *d_firstEntry;
  uint32_t *d_column;
  float *d_value, *d_x, *d_y;
  CHECK(cudaMalloc(&d_firstEntry, firstBytes));
  CHECK(cudaMalloc(&d_column, entryBytes));
  CHECK(cudaMalloc(&d_value, entryBytes));
  CHECK(cudaMalloc(&d_x, vector));
  CHECK(cudaMalloc(&d_y, vector));
  load(d_firstEntry, firstEntry, firstBytes, bench);
  load(d_column, column, entryBytes, bench);
  load(d_value, value, entryBytes, bench);
  load(d_x, x, vector, bench);
  loaded(bench);
  multiply<<<blocks, threads>>>(d_firstEntry, d_column, d_value, d_x, d_y,
                                (uint32_t)RowCount);
  computed(bench);
  store(y, file, d_y, vector, bench);
  stored(bench);
  CHECK(cudaFree(d_firstEntry));
  CHECK(cudaFree(d_column));
  CHECK(cudaFree(d_value));
  CHECK(cudaFree(d_x));
  CHECK(cudaFree(d_y));

  Verdict verdict;
  Touched ofX(RowCount);
  std::vector<float> right = product(ofX);
  check<float>(y, All, [&](size_t row) { return right[row]; }, verdict);
  bench.touched = input + ofX.count() * sizeof(float); // y instead of x
  return bench.finish(verdict);
}
