//===- minmax.h - min and max in the global namespace -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc has ::min and ::max for both sides, and those of one width also for
// mixed signedness, where the result is unsigned as in C. Clang has them for
// device code alone. The CUDA C++ math API names the pairs of types.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_MINMAX_H
#define DRAGON_NVCC_MINMAX_H

#if __cplusplus >= 201103L
#define DRAGON_CONSTEXPR constexpr
#else
#define DRAGON_CONSTEXPR
#endif

#define DRAGON_MINMAX(R, A, B)                                                 \
  static inline __host__ DRAGON_CONSTEXPR R min(const A a, const B b) {        \
    return static_cast<R>(b) < static_cast<R>(a) ? static_cast<R>(b)           \
                                                 : static_cast<R>(a);          \
  }                                                                            \
  static inline __host__ DRAGON_CONSTEXPR R max(const A a, const B b) {        \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b)           \
                                                 : static_cast<R>(a);          \
  }
#define DRAGON_MINMAX_MIXED(S, U)                                              \
  DRAGON_MINMAX(S, S, S)                                                       \
  DRAGON_MINMAX(U, U, U)                                                       \
  DRAGON_MINMAX(U, S, U)                                                       \
  DRAGON_MINMAX(U, U, S)
// As in device code: of a number and a NaN it is the number.
#define DRAGON_MINMAX_FLOATING(R, A, B, F)                                     \
  static inline __host__ R min(const A a, const B b) {                         \
    return __builtin_fmin##F(a, b);                                            \
  }                                                                            \
  static inline __host__ R max(const A a, const B b) {                         \
    return __builtin_fmax##F(a, b);                                            \
  }

DRAGON_MINMAX_MIXED(int, unsigned int)
DRAGON_MINMAX_MIXED(long, unsigned long)
DRAGON_MINMAX_MIXED(long long, unsigned long long)
DRAGON_MINMAX_FLOATING(float, float, float, f)
DRAGON_MINMAX_FLOATING(double, double, double, )
DRAGON_MINMAX_FLOATING(double, float, double, )
DRAGON_MINMAX_FLOATING(double, double, float, )

#undef DRAGON_MINMAX_FLOATING
#undef DRAGON_MINMAX_MIXED
#undef DRAGON_MINMAX
#undef DRAGON_CONSTEXPR

#endif // DRAGON_NVCC_MINMAX_H
