//===- gridStride.cu - an array summed up in five ways --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels as CUDA is taught: as many blocks as the device likes, whatever the
// size of the data, and in each thread a loop that goes over the array by the
// size of the grid. Sum, smallest and largest element, product of the array
// with itself moved, histogram, and sums of the columns of a matrix. What a
// thread has found stays in registers and shared memory until its loop ends.
//
// Each of the five reads one large array once, from its first to its last byte,
// and each block goes over all of it: a part of the grid needs no less than the
// whole. The results are 10 KiB.
//
// Arithmetic is of integers, so that the order of atomics does not matter. All
// results are checked: the host computes them again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>
#include <mutex>

using namespace bench;

typedef unsigned long long Word; // what atomics take
const int Blocks = 256, Threads = 256;
const int Bins = 256, Columns = 1024, Moved = 1000;

struct Results {
  Word sum, smallest, largest, product;
  Word bins[Bins], columns[Columns];
};

// The sum of what the threads of a block have, in its first thread.
__device__ static Word blockSum(Word mine) {
  __shared__ Word parts[Threads];
  parts[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = Threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  return parts[0];
}

__global__ void sumUp(const uint32_t *x, size_t n, Results *results) {
  Word sum = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += x[i];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    atomicAdd(&results->sum, sum);
}

__global__ void findRange(const uint32_t *x, size_t n, Results *results) {
  __shared__ Word smallest, largest;
  if (threadIdx.x == 0) {
    smallest = ~Word{0};
    largest = 0;
  }
  __syncthreads();
  uint32_t low = ~0u, high = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    low = min(low, x[i]);
    high = max(high, x[i]);
  }
  atomicMin(&smallest, (Word)low);
  atomicMax(&largest, (Word)high);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMin(&results->smallest, smallest);
    atomicMax(&results->largest, largest);
  }
}

__global__ void multiplyMoved(const uint32_t *x, size_t n, Results *results) {
  Word sum = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i + Moved < n;
       i += gridDim.x * blockDim.x)
    sum += (Word)x[i] * x[i + Moved];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    atomicAdd(&results->product, sum);
}

// Block by block in shared memory, a thread for each bin to begin and to end.
__global__ void countBins(const uint32_t *x, size_t n, Results *results) {
  __shared__ uint32_t bins[Bins];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&bins[x[i] >> 24], 1u);
  __syncthreads();
  atomicAdd(&results->bins[threadIdx.x], (Word)bins[threadIdx.x]);
}

// The array as a matrix, row-major, with a last row that may be short. A thread
// has a column; the grid's second dimension strides over the rows.
__global__ void sumColumns(const uint32_t *x, size_t n, Results *results) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  Word sum = 0;
  for (size_t i = (size_t)blockIdx.y * Columns + column; i < n;
       i += (size_t)gridDim.y * Columns)
    sum += x[i];
  atomicAdd(&results->columns[column], sum);
}

// Few in the upper bins: a histogram that is not flat.
static uint32_t elementAt(size_t i) {
  uint64_t bits = mix(i, 1);
  return (uint32_t)((bits >> 32) * (uint32_t)bits >> 32);
}

static Results noResults() {
  Results none = {};
  none.smallest = ~Word{0};
  return none;
}

static Results expectedResults(size_t n) {
  Results all = noResults();
  std::mutex mutex;
  onAllCores(n, [&](size_t first, size_t last) {
    Results part = noResults();
    for (size_t i = first; i < last; ++i) {
      Word element = elementAt(i);
      part.sum += element;
      part.smallest = std::min(part.smallest, element);
      part.largest = std::max(part.largest, element);
      if (i + Moved < n)
        part.product += element * elementAt(i + Moved);
      ++part.bins[element >> 24];
      part.columns[i % Columns] += element;
    }
    std::lock_guard<std::mutex> lock(mutex);
    all.sum += part.sum;
    all.smallest = std::min(all.smallest, part.smallest);
    all.largest = std::max(all.largest, part.largest);
    all.product += part.product;
    for (int bin = 0; bin < Bins; ++bin)
      all.bins[bin] += part.bins[bin];
    for (int column = 0; column < Columns; ++column)
      all.columns[column] += part.columns[column];
  });
  return all;
}

int main(int argc, char **argv) {
  Bench bench("gridStride", argc, argv);
  size_t n = (bench.size / sizeof(uint32_t)) | 1;
  size_t bytes = n * sizeof(uint32_t);
  Input x(bench, "x", n, sizeof(uint32_t), each<uint32_t, elementAt>);
  Output results(bench, "results", sizeof(Results) / sizeof(Word),
                 sizeof(Word));
  dim3 matrixBlocks(Columns / Threads, Blocks * Threads / Columns);

  start(bench, bytes + sizeof(Results), bytes, sizeof(Results));
  FILE *file = create(results);
  uint32_t *d_x;
  Results *d_results;
  CHECK(cudaMalloc(&d_x, bytes));
  CHECK(cudaMalloc(&d_results, sizeof(Results)));
  load(d_x, x, bytes, bench);
  loaded(bench);
  const Results none = noResults();
  CHECK(cudaMemcpy(d_results, &none, sizeof(Results), cudaMemcpyHostToDevice));
  sumUp<<<Blocks, Threads>>>(d_x, n, d_results);
  findRange<<<Blocks, Threads>>>(d_x, n, d_results);
  multiplyMoved<<<Blocks, Threads>>>(d_x, n, d_results);
  countBins<<<Blocks, Threads>>>(d_x, n, d_results);
  sumColumns<<<matrixBlocks, Threads>>>(d_x, n, d_results);
  computed(bench);
  store(results, file, d_results, sizeof(Results), bench);
  stored(bench);
  CHECK(cudaFree(d_x));
  CHECK(cudaFree(d_results));

  Verdict verdict;
  const Results right = expectedResults(n);
  auto expected = [&](size_t i) { return ((const Word *)&right)[i]; };
  check<Word>(results, All, expected, verdict);
  return bench.finish(verdict);
}
