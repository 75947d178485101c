//===- query.cu - a query over columns of a table -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// select sum(price * quantity * (100 - discount)) where key < k group by place.
// One kernel goes through the keys and notes where the rows are that pass; the
// next has a thread for each of those, which gathers the other columns. --share
// is the percentage that passes; such rows are anywhere in the table.
//
// All sums are checked: the host adds them again. They are integers, so their
// order does not matter.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>
#include <mutex>

using namespace bench;

const int Threads = 256, Places = 1024;

BENCH_BOTH inline uint64_t revenue(uint32_t price, uint32_t quantity,
                                   uint32_t discount) {
  return (uint64_t)price * quantity * (100 - discount);
}

__global__ void filter(const uint32_t *key, uint64_t below, uint32_t rows,
                       uint32_t *passed, uint32_t *count) {
  __shared__ uint32_t inBlock, first;
  uint32_t row = blockIdx.x * Threads + threadIdx.x, position = 0;
  bool passes = row < rows && key[row] < below;
  if (threadIdx.x == 0)
    inBlock = 0;
  __syncthreads();
  if (passes)
    position = atomicAdd(&inBlock, 1);
  __syncthreads();
  if (threadIdx.x == 0)
    first = atomicAdd(count, inBlock);
  __syncthreads();
  if (passes)
    passed[first + position] = row;
}

__global__ void addRevenue(const uint32_t *place, const uint32_t *price,
                           const uint32_t *quantity, const uint32_t *discount,
                           const uint32_t *passed, uint32_t count,
                           unsigned long long *sum) {
  uint32_t i = blockIdx.x * Threads + threadIdx.x;
  if (i >= count)
    return;
  uint32_t row = passed[i];
  atomicAdd(&sum[place[row]],
            revenue(price[row], quantity[row], discount[row]));
}

static uint32_t keyAt(size_t row) { return (uint32_t)(mix(row, 1) >> 32); }
template <int Column, int Most> uint32_t fieldAt(size_t row) {
  return (uint32_t)(mix(row, Column) % Most);
}
static auto *const placeAt = fieldAt<2, Places>;
static auto *const priceAt = fieldAt<3, 100000>;
static auto *const quantityAt = fieldAt<4, 50>;
static auto *const discountAt = fieldAt<5, 11>;

// The sums, and how many rows pass.
static std::vector<uint64_t> sumsOnHost(size_t rows, uint64_t below,
                                        size_t &passed) {
  std::vector<uint64_t> sums(Places);
  std::mutex lock;
  passed = 0;
  onAllCores(rows, [&](size_t first, size_t last) {
    std::vector<uint64_t> part(Places);
    size_t count = 0;
    for (size_t row = first; row < last; ++row) {
      if (keyAt(row) >= below)
        continue;
      part[placeAt(row)] +=
          revenue(priceAt(row), quantityAt(row), discountAt(row));
      ++count;
    }
    std::lock_guard<std::mutex> hold(lock);
    passed += count;
    for (int place = 0; place < Places; ++place)
      sums[place] += part[place];
  });
  return sums;
}

int main(int argc, char **argv) {
  Bench bench("query", argc, argv);
  // Five columns, and the rows that pass: 4 bytes each.
  const size_t rows = std::max<size_t>(1, bench.size / 24);
  if (rows > UINT32_MAX - Threads)
    fail(std::to_string(rows) + " rows are too many: give a smaller --size");
  const size_t bytes = rows * sizeof(uint32_t);
  const size_t sumBytes = Places * sizeof(uint64_t);
  const uint64_t below = (uint64_t)(bench.share / 100 * 0x1p32);
  Input key(bench, "key", rows, sizeof(uint32_t), each<uint32_t, keyAt>);
  Input place(bench, "place", rows, sizeof(uint32_t),
              each<uint32_t, fieldAt<2, Places>>);
  Input price(bench, "price", rows, sizeof(uint32_t),
              each<uint32_t, fieldAt<3, 100000>>);
  Input quantity(bench, "quantity", rows, sizeof(uint32_t),
                 each<uint32_t, fieldAt<4, 50>>);
  Input discount(bench, "discount", rows, sizeof(uint32_t),
                 each<uint32_t, fieldAt<5, 11>>);
  Output sum(bench, "sum", Places, sizeof(uint64_t));

  start(bench, 6 * bytes + sumBytes + sizeof(uint32_t), 5 * bytes, sumBytes);
  FILE *file = create(sum);
  uint32_t *d_key, *d_place, *d_price, *d_quantity, *d_discount;
  uint32_t *d_passed, *d_count, count;
  unsigned long long *d_sum;
  CHECK(cudaMalloc(&d_key, bytes));
  CHECK(cudaMalloc(&d_place, bytes));
  CHECK(cudaMalloc(&d_price, bytes));
  CHECK(cudaMalloc(&d_quantity, bytes));
  CHECK(cudaMalloc(&d_discount, bytes));
  CHECK(cudaMalloc(&d_passed, bytes));
  CHECK(cudaMalloc(&d_count, sizeof(uint32_t)));
  CHECK(cudaMalloc(&d_sum, sumBytes));
  load(d_key, key, bytes, bench);
  load(d_place, place, bytes, bench);
  load(d_price, price, bytes, bench);
  load(d_quantity, quantity, bytes, bench);
  load(d_discount, discount, bytes, bench);
  loaded(bench);
  CHECK(cudaMemset(d_count, 0, sizeof(uint32_t)));
  CHECK(cudaMemset(d_sum, 0, sumBytes));
  filter<<<(unsigned)((rows + Threads - 1) / Threads), Threads>>>(
      d_key, below, (uint32_t)rows, d_passed, d_count);
  CHECK(cudaMemcpy(&count, d_count, sizeof(count), cudaMemcpyDeviceToHost));
  if (count)
    addRevenue<<<count / Threads + 1, Threads>>>(
        d_place, d_price, d_quantity, d_discount, d_passed, count, d_sum);
  computed(bench);
  store(sum, file, d_sum, sumBytes, bench);
  stored(bench);
  CHECK(cudaFree(d_key));
  CHECK(cudaFree(d_place));
  CHECK(cudaFree(d_price));
  CHECK(cudaFree(d_quantity));
  CHECK(cudaFree(d_discount));
  CHECK(cudaFree(d_passed));
  CHECK(cudaFree(d_count));
  CHECK(cudaFree(d_sum));

  Verdict verdict;
  size_t passed;
  std::vector<uint64_t> right = sumsOnHost(rows, below, passed);
  check<uint64_t>(sum, All, [&](size_t i) { return right[i]; }, verdict);
  bench.touched =
      bytes + 5 * passed * sizeof(uint32_t) + sumBytes + sizeof(count);
  return bench.finish(verdict);
}
