//===- sums.h - arrays that are copied to the device and added up ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of copies that are made later share: an array says by its sum
// which of its contents a kernel saw.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_SUMS_H
#define DRAGON_TEST_SUMS_H

#include "e2e.h"

constexpr int N = 3 << 20; // 12 MiB
constexpr size_t Bytes = N * sizeof(uint32_t);

constexpr int EACH = 16; ///< words of a thread

__global__ void sum(const uint32_t *in, unsigned long long *total) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
  unsigned long long words = 0;
  for (int k = 0; k < EACH; ++k)
    words += in[i + k];
  atomicAdd(total, words);
}

static unsigned long long expected(uint32_t first) {
  unsigned long long total = 0;
  for (uint32_t i = 0; i < N; ++i)
    total += first + i % 16;
  return total;
}

/// The sum of what is in the device buffer.
static unsigned long long total(const uint32_t *d_in,
                                unsigned long long *d_total) {
  unsigned long long result = 0;
  CHECK(cudaMemset(d_total, 0, sizeof(result)));
  sum<<<N / EACH / 256, 256>>>(d_in, d_total);
  CHECK(cudaMemcpy(&result, d_total, sizeof(result), cudaMemcpyDeviceToHost));
  return result;
}

static void fill(uint32_t *h, uint32_t first) {
  for (uint32_t i = 0; i < N; ++i)
    h[i] = first + i % 16;
}

struct Device {
  uint32_t *in;
  unsigned long long *total;
  Device() {
    CHECK(cudaMalloc(&in, Bytes));
    CHECK(cudaMalloc(&total, sizeof(*total)));
  }
  ~Device() {
    CHECK(cudaFree(in));
    CHECK(cudaFree(total));
  }
};

/// The compiler does not see what they are.
static void (*volatile refill)(uint32_t *, uint32_t) = fill;
static void *(*volatile allocate)(size_t) = malloc;
static void (*volatile release)(void *) = free;

struct Sums : Device {
  void copyIn(const uint32_t *h) {
    CHECK(cudaMemcpy(in, h, Bytes, cudaMemcpyHostToDevice));
  }
  bool has(uint32_t first) { return ::total(in, total) == expected(first); }
};

#endif // DRAGON_TEST_SUMS_H
