//===- types.h - what the overlay's templates need --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_TYPES_H
#define DRAGON_NVCC_TYPES_H

/// A type that is not deduced from the argument.
template <class T> struct dragonSame {
  typedef T type;
};

#endif // DRAGON_NVCC_TYPES_H
