//===- Calls.h - kernels with what they call --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is analysed, and its copy for slices made, with the functions that
// it calls in it: what these do to its memrefs is what the kernel does. The
// program keeps its calls, and what the user does not want inlined stays apart
// there.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_ACCESS_CALLS_H
#define DRAGON_PASSES_MLIR_ACCESS_CALLS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dragon::ir {

bool callsFunctions(mlir::gpu::GPUFuncOp Kernel);

/// Takes the calls in, `no_inline` or not. Those of functions that are
/// elsewhere or recursive are left, as is what would become too large.
void takeInCalls(mlir::gpu::GPUFuncOp Kernel);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_ACCESS_CALLS_H
