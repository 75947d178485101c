//===- math.h - functions of <math.h> for the device -------------*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device functions that clang declares and does not define.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_MATH_H
#define DRAGON_NVCC_MATH_H

// The tag is not kept, as in CUDA's own.
static inline __device__ double nan(const char *) { return __builtin_nan(""); }
static inline __device__ float nanf(const char *) { return __builtin_nanf(""); }

#endif // DRAGON_NVCC_MATH_H
