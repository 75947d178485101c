//===- binomialOptions.cu - American options in binomial trees -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/binomialOptions.h"

int main(int argc, char **argv) {
  Bench bench("binomialOptions", argc, argv);
  size_t n = (bench.size / (4 * sizeof(float))) | 1;
  size_t bytes = n * sizeof(float);
  Input stock(bench, "stock", n, sizeof(float), each<float, stockAt>);
  Input strike(bench, "strike", n, sizeof(float), each<float, strikeAt>);
  Input years(bench, "years", n, sizeof(float), each<float, yearsAt>);
  Output put(bench, "put", n, sizeof(float));

  start(bench, 4 * bytes, 3 * bytes, bytes);
  float *d_stock = map<float>(stock, bytes, D_F_READ);
  float *d_strike = map<float>(strike, bytes, D_F_READ);
  float *d_years = map<float>(years, bytes, D_F_READ);
  float *d_put = map<float>(put, bytes, D_F_WRITE | D_F_CREATE);
  loaded(bench);
  priceTree<<<(unsigned)((n + 127) / 128), 128>>>(d_stock, d_strike, d_years,
                                                  d_put, n);
  computed(bench);
  for (float *each : {d_stock, d_strike, d_years, d_put})
    MAP(dragon_unmap(each));
  stored(bench);

  Verdict verdict;
  auto right = [](size_t i) {
    return putPrice(stockAt(i), strikeAt(i), yearsAt(i));
  };
  check<float>(put, size_t{1} << 18, right, verdict);
  return bench.finish(verdict);
}
