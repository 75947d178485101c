//===- EvalBounds.h - how far an evaluation goes ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No kernel has more than that, but a damaged summary could: it would take for
// ever, or all of the stack. What is beyond may have any value.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_EVALBOUNDS_H
#define DRAGON_DETAIL_EVALBOUNDS_H

#include <cstddef>

namespace dragon {
namespace detail {

/// Operations of an expression, one within the other and in all.
constexpr unsigned DeepestExpression = 512;
constexpr size_t MostNodes = 4096;
/// Inductions within inductions, and of one access.
constexpr unsigned DeepestInduction = 3, MostInductions = 64;
/// Conditions in one guard.
constexpr unsigned MostSplits = 64;
/// Loops of which it is asked how often they run, one for the other.
constexpr unsigned MostLoopsAsked = 2;

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_EVALBOUNDS_H
