//===- Polyhedra.h - what no launch can do ----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asks MLIR's Presburger library what holds in every launch of a kernel:
// whether an access happens at all, and whether a guard holds wherever the
// others do. In kernels that were tiled, most guards say what the bounds of
// loops say already.
//
// Variables are a thread's indices, loop counters, arguments and dimensions.
// Products of two of them are variables of their own; sums that may wrap are as
// well: what is said here holds of numbers without a limit.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_ACCESS_POLYHEDRA_H
#define DRAGON_PASSES_MLIR_ACCESS_POLYHEDRA_H

#include "dragon/SummaryBuilder.h"

namespace dragon::ir {

/// True if no thread of any launch has the access.
bool neverHappens(const ExprPool &Pool, const AccessSummary &Access);

/// Leaves out guards that hold wherever the other guards of the access do.
void dropImpliedGuards(const ExprPool &Pool, AccessSummary &Access);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_ACCESS_POLYHEDRA_H
