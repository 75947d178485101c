//===- binomialOptions.cu - American options in binomial trees -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread prices an American put by going back through a tree of 32 steps: for
// each option three floats come, one goes, and some thousand operations lie
// between. Memory moves once; what counts is whether that hides behind the
// computation.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

using namespace bench;

const int Depth = 32;

BENCH_BOTH static float putPrice(float stock, float strike, float years) {
  const float rate = 0.02f, volatility = 0.3f;
  float step = years / Depth;
  float up = exactExp(volatility * exactSqrt(step));
  float down = 1.0f / up;
  float growth = exactExp(rate * step);
  float likely = (growth - down) / (up - down);
  float discount = 1.0f / growth;
  float rises = discount * likely, falls = discount * (1.0f - likely);
  float square = up * up;

  // value[i]: after i rises and Depth - i falls.
  float value[Depth + 1];
  float lowest = stock;
  for (int i = 0; i < Depth; ++i)
    lowest *= down;
  float price = lowest;
  for (int i = 0; i <= Depth; ++i, price *= square)
    value[i] = strike > price ? strike - price : 0.0f;
#pragma unroll
  for (int level = Depth - 1; level >= 0; --level) {
    lowest *= up;
    price = lowest;
#pragma unroll
    for (int i = 0; i < Depth; ++i) {
      if (i <= level) {
        float kept = rises * value[i + 1] + falls * value[i];
        float exercised = strike - price;
        value[i] = kept > exercised ? kept : exercised;
        price *= square;
      }
    }
  }
  return value[0];
}

__global__ void priceTree(const float *stock, const float *strike,
                          const float *years, float *put, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    put[i] = putPrice(stock[i], strike[i], years[i]);
}

static float stockAt(size_t i) { return uniform(mix(i, 1), 5, 30); }
static float strikeAt(size_t i) { return uniform(mix(i, 2), 5, 30); }
static float yearsAt(size_t i) { return uniform(mix(i, 3), 0.25f, 5); }

int main(int argc, char **argv) {
  Bench bench("binomialOptions", argc, argv);
  size_t n = (bench.size / (4 * sizeof(float))) | 1;
  size_t bytes = n * sizeof(float);
  Input stock(bench, "stock", n, sizeof(float), each<float, stockAt>);
  Input strike(bench, "strike", n, sizeof(float), each<float, strikeAt>);
  Input years(bench, "years", n, sizeof(float), each<float, yearsAt>);
  Output put(bench, "put", n, sizeof(float));
  const int threads = 128;

  start(bench, 4 * bytes, 3 * bytes, bytes);
#ifdef LINK_METHODS
  if (bench.method == Method::Ring) {
    ring({{stock.data, nullptr, sizeof(float)},
          {strike.data, nullptr, sizeof(float)},
          {years.data, nullptr, sizeof(float)},
          {nullptr, put.data, sizeof(float)}},
         n, size_t{8} << 20,
         [=](void **d, size_t, size_t count, cudaStream_t stream) {
           priceTree<<<(unsigned)((count + threads - 1) / threads), threads, 0,
                       stream>>>((float *)d[0], (float *)d[1], (float *)d[2],
                                 (float *)d[3], count);
         });
    computed(bench);
  } else
#endif
  {
    FILE *file = create(put);
    float *d_stock, *d_strike, *d_years, *d_put;
    CHECK(cudaMalloc(&d_stock, bytes));
    CHECK(cudaMalloc(&d_strike, bytes));
    CHECK(cudaMalloc(&d_years, bytes));
    CHECK(cudaMalloc(&d_put, bytes));
    load(d_stock, stock, bytes, bench);
    load(d_strike, strike, bytes, bench);
    load(d_years, years, bytes, bench);
    loaded(bench);
    priceTree<<<(unsigned)((n + threads - 1) / threads), threads>>>(
        d_stock, d_strike, d_years, d_put, n);
    computed(bench);
    store(put, file, d_put, bytes, bench);
    stored(bench);
    CHECK(cudaFree(d_stock));
    CHECK(cudaFree(d_strike));
    CHECK(cudaFree(d_years));
    CHECK(cudaFree(d_put));
  }

  Verdict verdict;
  auto right = [](size_t i) {
    return putPrice(stockAt(i), strikeAt(i), yearsAt(i));
  };
  check<float>(put, size_t{1} << 18, right, verdict);
  return bench.finish(verdict);
}
