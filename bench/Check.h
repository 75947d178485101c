//===- Check.h - what the bench programs make of CUDA's errors ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The call, where it stands and what went wrong, and an exit status of 2: the
// programs are plain CUDA, which nvcc compiles as well.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_CHECK_H
#define DRAGON_BENCH_CHECK_H

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                               \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,            \
              cudaGetErrorString(status));                                     \
      exit(2);                                                                 \
    }                                                                          \
  } while (0)

#endif // DRAGON_BENCH_CHECK_H
