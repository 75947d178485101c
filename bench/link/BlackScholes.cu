//===- BlackScholes.cu - prices of European options ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BlackScholes.h"

int main(int argc, char **argv) {
  Bench bench("BlackScholes", argc, argv);
  size_t n = (bench.size / (5 * sizeof(float))) | 1;
  size_t bytes = n * sizeof(float);
  Input stock(bench, "stock", n, sizeof(float), each<float, stockAt>);
  Input strike(bench, "strike", n, sizeof(float), each<float, strikeAt>);
  Input years(bench, "years", n, sizeof(float), each<float, yearsAt>);
  Output call(bench, "call", n, sizeof(float));
  Output put(bench, "put", n, sizeof(float));
  const int threads = 256;

  start(bench, 5 * bytes, 3 * bytes, 2 * bytes);
#ifdef LINK_METHODS
  if (bench.method == Method::Ring) {
    ring({{stock.data, nullptr, sizeof(float)},
          {strike.data, nullptr, sizeof(float)},
          {years.data, nullptr, sizeof(float)},
          {nullptr, call.data, sizeof(float)},
          {nullptr, put.data, sizeof(float)}},
         n, size_t{8} << 20,
         [=](void **d, size_t, size_t count, cudaStream_t stream) {
           price<<<(unsigned)((count + threads - 1) / threads), threads, 0,
                   stream>>>((float *)d[0], (float *)d[1], (float *)d[2],
                             (float *)d[3], (float *)d[4], count);
         });
    computed(bench);
  } else
#endif
  {
    FILE *callFile = create(call), *putFile = create(put);
    float *d_stock, *d_strike, *d_years, *d_call, *d_put;
    CHECK(cudaMalloc(&d_stock, bytes));
    CHECK(cudaMalloc(&d_strike, bytes));
    CHECK(cudaMalloc(&d_years, bytes));
    CHECK(cudaMalloc(&d_call, bytes));
    CHECK(cudaMalloc(&d_put, bytes));
    load(d_stock, stock, bytes, bench);
    load(d_strike, strike, bytes, bench);
    load(d_years, years, bytes, bench);
    loaded(bench);
    price<<<(unsigned)((n + threads - 1) / threads), threads>>>(
        d_stock, d_strike, d_years, d_call, d_put, n);
    computed(bench);
    store(call, callFile, d_call, bytes, bench);
    store(put, putFile, d_put, bytes, bench);
    stored(bench);
    CHECK(cudaFree(d_stock));
    CHECK(cudaFree(d_strike));
    CHECK(cudaFree(d_years));
    CHECK(cudaFree(d_call));
    CHECK(cudaFree(d_put));
  }

  Verdict verdict;
  auto right = [](size_t i) {
    return priced(stockAt(i), strikeAt(i), yearsAt(i));
  };
  auto rightCall = [=](size_t i) { return right(i).call; };
  auto rightPut = [=](size_t i) { return right(i).put; };
  check<float>(call, size_t{1} << 24, rightCall, verdict);
  check<float>(put, size_t{1} << 24, rightPut, verdict);
  return bench.finish(verdict);
}
