//===- BlackScholes.cu - prices of European options ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/BlackScholes.h"

int main(int argc, char **argv) {
  Bench bench("BlackScholes", argc, argv);
  size_t n = (bench.size / (5 * sizeof(float))) | 1;
  size_t bytes = n * sizeof(float);
  Input stock(bench, "stock", n, sizeof(float), each<float, stockAt>);
  Input strike(bench, "strike", n, sizeof(float), each<float, strikeAt>);
  Input years(bench, "years", n, sizeof(float), each<float, yearsAt>);
  Output call(bench, "call", n, sizeof(float));
  Output put(bench, "put", n, sizeof(float));

  start(bench, 5 * bytes, 3 * bytes, 2 * bytes);
  float *d_stock = map<float>(stock, bytes, D_F_READ);
  float *d_strike = map<float>(strike, bytes, D_F_READ);
  float *d_years = map<float>(years, bytes, D_F_READ);
  float *d_call = map<float>(call, bytes, D_F_WRITE | D_F_CREATE);
  float *d_put = map<float>(put, bytes, D_F_WRITE | D_F_CREATE);
  loaded(bench);
  price<<<(unsigned)((n + 255) / 256), 256>>>(d_stock, d_strike, d_years,
                                              d_call, d_put, n);
  computed(bench);
  for (float *each : {d_stock, d_strike, d_years, d_call, d_put})
    MAP(dragon_unmap(each));
  stored(bench);

  Verdict verdict;
  auto rightCall = [](size_t i) {
    return priced(stockAt(i), strikeAt(i), yearsAt(i)).call;
  };
  auto rightPut = [](size_t i) {
    return priced(stockAt(i), strikeAt(i), yearsAt(i)).put;
  };
  check<float>(call, size_t{1} << 24, rightCall, verdict);
  check<float>(put, size_t{1} << 24, rightPut, verdict);
  return bench.finish(verdict);
}
