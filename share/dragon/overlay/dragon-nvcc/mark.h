//===- mark.h - DRAGON_DROPPED, on what CUDA 13 has dropped -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who includes it undefines it.
//
//===----------------------------------------------------------------------===//

// Said once, by the host compilation. Clang's wrapper of these headers defines
// an architecture there too.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 9999
#define DRAGON_DROPPED(instead)
#else
#define DRAGON_DROPPED(instead)                                                \
  __attribute__((deprecated("CUDA 13 has dropped it; use " instead)))
#endif
