//===- BlackScholes.h - prices of European options --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three arrays are read once, two are written once; some computation for each
// element. The normal distribution is that of Abramowitz and Stegun, 26.2.17.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_BLACK_SCHOLES_H
#define DRAGON_BENCH_LINK_BLACK_SCHOLES_H

#include "Data.h"

using namespace bench;

struct Prices {
  float call, put;
};

BENCH_BOTH static float normalCdf(float d) {
  float x = d < 0 ? -d : d;
  float k = 1.0f / (1.0f + 0.2316419f * x);
  float sum = 1.330274429f;
  sum = sum * k - 1.821255978f;
  sum = sum * k + 1.781477937f;
  sum = sum * k - 0.356563782f;
  sum = sum * k + 0.31938153f;
  float tail = 0.39894228f * exactExp(-0.5f * x * x) * sum * k;
  return d > 0 ? 1.0f - tail : tail;
}

BENCH_BOTH static Prices priced(float stock, float strike, float years) {
  const float rate = 0.02f, volatility = 0.3f;
  float deviation = volatility * exactSqrt(years);
  float d1 = (exactLog(stock / strike) +
              (rate + 0.5f * volatility * volatility) * years) /
             deviation;
  float d2 = d1 - deviation;
  float discounted = strike * exactExp(-rate * years);
  return {stock * normalCdf(d1) - discounted * normalCdf(d2),
          discounted * normalCdf(-d2) - stock * normalCdf(-d1)};
}

__global__ void price(const float *stock, const float *strike,
                      const float *years, float *call, float *put, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Prices prices = priced(stock[i], strike[i], years[i]);
  call[i] = prices.call;
  put[i] = prices.put;
}

static float stockAt(size_t i) { return uniform(mix(i, 1), 5, 30); }
static float strikeAt(size_t i) { return uniform(mix(i, 2), 5, 30); }
static float yearsAt(size_t i) { return uniform(mix(i, 3), 0.25f, 5); }

#endif // DRAGON_BENCH_LINK_BLACK_SCHOLES_H
