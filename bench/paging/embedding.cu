//===- embedding.cu - sums of rows of an embedding table ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sample is 32 ids; a block adds their rows of the table, 64 floats each, a
// thread for each column. Which ids are wanted follows Zipf's law with exponent
// 1: half of all look-ups are of as many ids as the square root of all. Ids are
// scattered in the table, as hashed ones are.
//
// Samples of the results are checked, each of which the host computes again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Touched.h"

#include <algorithm>
#include <cmath>

using namespace bench;

const int Width = 64, Ids = 32;

__global__ void sumRows(const float *table, const uint32_t *id, float *sums) {
  size_t sample = blockIdx.x;
  float sum = 0;
  for (int k = 0; k < Ids; ++k)
    sum += table[(size_t)id[sample * Ids + k] * Width + threadIdx.x];
  sums[sample * Width + threadIdx.x] = sum;
}

static size_t Rows = 0;

static float elementAt(size_t i) { return uniform(mix(i, 1), -1, 1); }

static uint32_t idAt(size_t i) {
  // The logarithm of the rank is uniform. The factor is a prime above all
  // numbers of rows, so that no two ranks have one id.
  double u = (double)(mix(i, 2) >> 11) * 0x1p-53;
  uint64_t rank = (uint64_t)std::exp(u * std::log((double)Rows));
  return (uint32_t)(std::min<uint64_t>(rank, Rows) * 4294967291 % Rows);
}

static float sumAt(size_t i) {
  size_t sample = i / Width, column = i % Width;
  float sum = 0;
  for (int k = 0; k < Ids; ++k)
    sum += elementAt((size_t)idAt(sample * Ids + k) * Width + column);
  return sum;
}

int main(int argc, char **argv) {
  Bench bench("embedding", argc, argv);
  // As many look-ups as rows: 256 bytes a row, 4 for an id, 8 of the results.
  size_t samples = std::max<size_t>(1, bench.size / 268 / Ids);
  Rows = samples * Ids;
  size_t tableBytes = Rows * Width * sizeof(float);
  size_t idBytes = Rows * sizeof(uint32_t);
  size_t sumBytes = samples * Width * sizeof(float);
  Input table(bench, "table", Rows * Width, sizeof(float),
              each<float, elementAt>);
  Input id(bench, "id", Rows, sizeof(uint32_t), each<uint32_t, idAt>);
  Output sums(bench, "sums", samples * Width, sizeof(float));

  start(bench, tableBytes + idBytes + sumBytes, tableBytes + idBytes, sumBytes);
  FILE *file = create(sums);
  float *d_table, *d_sums;
  uint32_t *d_id;
  CHECK(cudaMalloc(&d_table, tableBytes));
  CHECK(cudaMalloc(&d_id, idBytes));
  CHECK(cudaMalloc(&d_sums, sumBytes));
  load(d_table, table, tableBytes, bench);
  load(d_id, id, idBytes, bench);
  loaded(bench);
  sumRows<<<(unsigned)samples, Width>>>(d_table, d_id, d_sums);
  computed(bench);
  store(sums, file, d_sums, sumBytes, bench);
  stored(bench);
  CHECK(cudaFree(d_table));
  CHECK(cudaFree(d_id));
  CHECK(cudaFree(d_sums));

  Verdict verdict;
  check<float>(sums, 1 << 20, [](size_t i) { return sumAt(i); }, verdict);
  Touched rows(Rows);
  onAllCores(Rows, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
      rows.add(idAt(i));
  });
  bench.touched = rows.count() * Width * sizeof(float) + idBytes + sumBytes;
  return bench.finish(verdict);
}
