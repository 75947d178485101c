//===- macros.h - the macros of nvcc ----------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler that programs ask for is nvcc of the toolkit's version. Clang
// defines __CUDACC__ empty, which `#if __CUDACC__` does not take.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_MACROS_H
#define DRAGON_NVCC_MACROS_H

#undef __CUDACC__
#define __CUDACC__ 1

#ifndef __NVCC__
#define __NVCC__ 1
#endif

#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#endif

#ifndef __CUDA_API_VER_MAJOR__
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#define __CUDA_API_VER_MINOR__ __CUDACC_VER_MINOR__
#endif

// The compiler's plugin knows the annotation (passes/support/NvccVariables.h).
// Declarations of variables lose theirs, but keep their section.
#undef __managed__
#if defined(__CUDA_ARCH__)
#define __managed__ __device__ __attribute__((annotate("dragon-managed")))
#else
#define __managed__                                                            \
  __device__                                                                   \
      __attribute__((annotate("dragon-managed"), section("dragon-managed")))
#endif
// Clang knows clusters of AMD's kernels only, and forgets those of others.
#undef __cluster_dims__
#define __cluster_dims__(...)                                                  \
  __attribute__((annotate("dragon-cluster", __VA_ARGS__)))

#endif // DRAGON_NVCC_MACROS_H
