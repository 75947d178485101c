//===- math.h - functions of <math.h> for the device -------------*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device functions that clang declares and does not define, or does not have.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_MATH_H
#define DRAGON_NVCC_MATH_H

// The tag is not kept, as in CUDA's own.
static inline __device__ double nan(const char *) { return __builtin_nan(""); }
static inline __device__ float nanf(const char *) { return __builtin_nanf(""); }

// Of CUDA 13, whose GPUs all have it. What tanhf is with -use_fast_math.
static inline __device__ float __tanhf(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
extern "C" inline __device__ float __dragon_fast_tanhf(float x) {
  return __tanhf(x);
}
#endif

#endif // DRAGON_NVCC_MATH_H
