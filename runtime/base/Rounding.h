//===- Rounding.h - Multiples of pages, granules and alignments -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAGON_RUNTIME_BASE_ROUNDING_H
#define DRAGON_RUNTIME_BASE_ROUNDING_H

#include <type_traits>

namespace dragon {

/// Returns the least multiple of \p unit, which need not be a power of two,
/// that is not below \p value.
template <typename T>
constexpr T roundUp(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_ROUNDING_H
