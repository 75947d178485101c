// What the kernels of random programs see.
#ifndef KERNELS_H
#define KERNELS_H
#include <cstddef>
#include <cstdint>
#ifdef MODEL
#include "model-kernels.h"
#else
#include <cuda_runtime.h>
#endif

/// A function whose result depends on every bit of its argument.
__host__ __device__ inline uint32_t scramble(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  return x + 0x9e3779b9u;
}

// What kernels are given by value.
struct View {
  uint32_t *data;
  long words;
};
struct Pack {
  const uint32_t *in[3];
  uint32_t *out;
  int n;
};
struct Weights {
  uint32_t at[4];
};
#endif
