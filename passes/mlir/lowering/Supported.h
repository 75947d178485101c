//===- Supported.h - what is lowered, and what is not -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of -dragon-pipeline that have no use by themselves. Upstream's
// conversions leave what they do not know, or name their own internals; a user
// wants to know which operation it was, and which pass to run before.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LOWERING_SUPPORTED_H
#define DRAGON_PASSES_MLIR_LOWERING_SUPPORTED_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace dragon::ir {

/// While it lives, what a conversion says of an operation that it does not know
/// is said in the user's words.
struct UsersWords : mlir::ScopedDiagnosticHandler {
  explicit UsersWords(mlir::MLIRContext *Context);
};

/// Operations of vectors and subgroups as simpler ones that upstream's
/// conversions to LLVM take.
std::unique_ptr<mlir::Pass> createSimplifyVectors();

/// gpu.modules to NVVM.
std::unique_ptr<mlir::Pass> createLowerKernels();

/// Fails, with a message for each, if operations are left that are not LLVM's.
std::unique_ptr<mlir::Pass> createCheckLowered();

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LOWERING_SUPPORTED_H
