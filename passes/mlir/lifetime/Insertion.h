//===- Insertion.h - directives -> operations of the dialect ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions here put into a function what placement decided, and take it
// out again. They decide nothing. A directive is left out, with its finding, if
// its operands are not available where it belongs.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_INSERTION_H
#define DRAGON_PASSES_MLIR_LIFETIME_INSERTION_H

#include "passes/mlir/lifetime/HostProgram.h"
#include "passes/placement/Directive.h"

namespace dragon::ir {

/// Inserts the directives. The findings of directives that were left out are
/// removed, or replaced by what the user is to be told instead. Allocations may
/// be replaced; Read then has the new ones.
void insertDirectives(mlir::FunctionOpInterface F, HostProgram &Read,
                      Placement &Decisions);

/// Takes out what insertDirectives put in, which has a mark. The program may
/// have changed since, and no directive must be there twice.
void removeDirectives(mlir::FunctionOpInterface F);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_INSERTION_H
