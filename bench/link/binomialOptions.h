//===- binomialOptions.h - American options in binomial trees ---*- C++ -*-===//
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
#ifndef DRAGON_BENCH_LINK_BINOMIAL_OPTIONS_H
#define DRAGON_BENCH_LINK_BINOMIAL_OPTIONS_H

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

#endif // DRAGON_BENCH_LINK_BINOMIAL_OPTIONS_H
