//===- caches.h - loads and stores with cache hints -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those that clang does not have: __ldca and __ldlu, __stwb, __stcg, __stcs,
// and
// __stwt of long.
// What they say of caches is a hint; they are loads and stores.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_CACHES_H
#define DRAGON_NVCC_CACHES_H

#include "types.h"

#define DRAGON_LOAD(name)                                                      \
  template <class T>                                                           \
  static inline __device__ __attribute__((always_inline)) T name(              \
      const T *from) {                                                         \
    return *from;                                                              \
  }
#define DRAGON_STORE(name)                                                     \
  template <class T>                                                           \
  static inline __device__ __attribute__((always_inline)) void name(           \
      T *to, typename dragonSame<T>::type value) {                             \
    *to = value;                                                               \
  }
DRAGON_LOAD(__ldca)
DRAGON_LOAD(__ldlu)
DRAGON_STORE(__stwb)
DRAGON_STORE(__stcg)
DRAGON_STORE(__stcs)
DRAGON_STORE(__stwt)
#undef DRAGON_LOAD
#undef DRAGON_STORE

#endif // DRAGON_NVCC_CACHES_H
