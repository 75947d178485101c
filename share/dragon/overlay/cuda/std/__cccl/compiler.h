//===- compiler.h - libcu++ asks for clang, not for nvcc --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The toolkit's own headers know clang's CUDA, and must not take it for nvcc
// because programs do (dragon-nvcc/macros.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_OVERLAY_CUDA_STD_CCCL_COMPILER_H
#define DRAGON_OVERLAY_CUDA_STD_CCCL_COMPILER_H

#pragma push_macro("__NVCC__")
#undef __NVCC__
#include_next <cuda/std/__cccl/compiler.h>
#pragma pop_macro("__NVCC__")

#endif // DRAGON_OVERLAY_CUDA_STD_CCCL_COMPILER_H
