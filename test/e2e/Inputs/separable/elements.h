//===- elements.h - device code of other units ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernels of one unit take from another: functions, among them those
// that decide what a kernel touches, variables and constants. Each unit has a
// constant `offset` and a kernel `step` of its own, that no other sees.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_ELEMENTS_H
#define DRAGON_TEST_ELEMENTS_H

#include "e2e.h"

// In elements.cu.
extern __constant__ uint32_t factors[4];
extern __device__ uint32_t bias;
extern __device__ unsigned long long visited;
__device__ int mirrored(int i, int n);
__device__ uint32_t element(const uint32_t *in, int i);
__device__ void store(uint32_t *out, int i, uint32_t value);
void setFactor(int index, uint32_t factor);

// In steps.cu.
__global__ void scale(uint32_t *out, const uint32_t *in, int n);
void secondStep(uint32_t *out, int n, uint32_t newOffset);

#endif // DRAGON_TEST_ELEMENTS_H
