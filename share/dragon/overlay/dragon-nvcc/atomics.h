//===- atomics.h - atomic operations with order and scope -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc's __nv_atomic_* by GCC's __atomic_*, whose orders have the same numbers
// and which clang compiles for every width. The scope is a promise that fewer
// threads take part than all; it is not used.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_ATOMICS_H
#define DRAGON_NVCC_ATOMICS_H

#include "types.h"

enum {
  __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};

enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

#pragma push_macro("DRAGON_ATOMIC")
#define DRAGON_ATOMIC                                                          \
  static inline __device__ __attribute__((always_inline, unused))

template <class T>
DRAGON_ATOMIC void __nv_atomic_load(T *from, T *result, int order,
                                    int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_load(from, result, order);
}

template <class T>
DRAGON_ATOMIC T __nv_atomic_load_n(T *from, int order,
                                   int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_load_n(from, order);
}

template <class T>
DRAGON_ATOMIC void __nv_atomic_store(T *to, T *value, int order,
                                     int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_store(to, value, order);
}

template <class T>
DRAGON_ATOMIC void
__nv_atomic_store_n(T *to, typename dragonSame<T>::type value, int order,
                    int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_store_n(to, value, order);
}

template <class T>
DRAGON_ATOMIC void __nv_atomic_exchange(T *at, T *value, T *result, int order,
                                        int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_exchange(at, value, result, order);
}

template <class T>
DRAGON_ATOMIC T __nv_atomic_exchange_n(T *at,
                                       typename dragonSame<T>::type value,
                                       int order,
                                       int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_exchange_n(at, value, order);
}

template <class T>
DRAGON_ATOMIC bool
__nv_atomic_compare_exchange(T *at, T *expected, T *value, bool weak,
                             int success, int failure,
                             int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_compare_exchange(at, expected, value, weak, success, failure);
}

template <class T>
DRAGON_ATOMIC bool __nv_atomic_compare_exchange_n(
    T *at, T *expected, typename dragonSame<T>::type value, bool weak,
    int success, int failure, int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_compare_exchange_n(at, expected, value, weak, success,
                                     failure);
}

#pragma push_macro("DRAGON_ATOMIC_UPDATE")
#define DRAGON_ATOMIC_UPDATE(name)                                             \
  template <class T>                                                           \
  DRAGON_ATOMIC T __nv_atomic_fetch_##name(                                    \
      T *at, typename dragonSame<T>::type value, int order,                    \
      int = __NV_THREAD_SCOPE_SYSTEM) {                                        \
    return __atomic_fetch_##name(at, value, order);                            \
  }                                                                            \
  template <class T>                                                           \
  DRAGON_ATOMIC void __nv_atomic_##name(                                       \
      T *at, typename dragonSame<T>::type value, int order,                    \
      int = __NV_THREAD_SCOPE_SYSTEM) {                                        \
    (void)__atomic_fetch_##name(at, value, order);                             \
  }
DRAGON_ATOMIC_UPDATE(add)
DRAGON_ATOMIC_UPDATE(sub)
DRAGON_ATOMIC_UPDATE(and)
DRAGON_ATOMIC_UPDATE(or)
DRAGON_ATOMIC_UPDATE(xor)
DRAGON_ATOMIC_UPDATE(min)
DRAGON_ATOMIC_UPDATE(max)
#pragma pop_macro("DRAGON_ATOMIC_UPDATE")

DRAGON_ATOMIC void __nv_atomic_thread_fence(int order,
                                            int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_thread_fence(order);
}

#pragma pop_macro("DRAGON_ATOMIC")

#endif // DRAGON_NVCC_ATOMICS_H
