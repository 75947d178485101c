//===- math.h - mathematics in the global namespace -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What CUDA adds to <math.h> can be called on the host as well; clang has it
// for device code alone.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_MATH_H
#define DRAGON_NVCC_MATH_H

#endif // DRAGON_NVCC_MATH_H
