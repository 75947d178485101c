//===- vectorAdd.h - c = a + b ----------------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simplest streaming program: two thirds of the footprint are read once,
// one third is written once. All of it is checked.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_VECTOR_ADD_H
#define DRAGON_BENCH_LINK_VECTOR_ADD_H

#include "Data.h"

using namespace bench;

__global__ void vectorAdd(const float *a, const float *b, float *c, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

static float elementA(size_t i) { return uniform(mix(i, 1), -1, 1); }
static float elementB(size_t i) { return uniform(mix(i, 2), -1, 1); }

#endif // DRAGON_BENCH_LINK_VECTOR_ADD_H
