//===- Insertion.h - directives -> operations of the dialect ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts into a function what placement decided. It decides nothing: a directive
// whose operands are not available where it belongs is left out, with its
// finding.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LIFETIME_INSERTION_H
#define DRAGON_PASSES_MLIR_LIFETIME_INSERTION_H

#include "passes/mlir/lifetime/HostProgram.h"
#include "passes/placement/Directive.h"

namespace dragon::ir {

/// Findings of directives that were left out are removed, or replaced by what
/// is to be told then. Read's buffers are those that there are then.
void insertDirectives(mlir::FunctionOpInterface F, HostProgram &Read,
                      Placement &Decisions);

/// Takes out what insertDirectives put in, as its marks say: the program may
/// have changed since, and says nothing twice.
void removeDirectives(mlir::FunctionOpInterface F);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LIFETIME_INSERTION_H
