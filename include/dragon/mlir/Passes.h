//===- Passes.h - passes of the MLIR front end ------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For compilers that link the CMake target dragon::DragonMLIRPasses. Passes
// keep no state between modules; a pass manager may run them on several
// modules at a time.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_MLIR_PASSES_H
#define DRAGON_MLIR_PASSES_H

#include "dragon/mlir/Dragon.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace dragon::ir {

#define GEN_PASS_DECL
#include "dragon/mlir/DragonPasses.h.inc"

/// Of -dragon-pipeline.
struct DragonPipelineOptions
    : public mlir::PassPipelineOptions<DragonPipelineOptions> {
  Option<bool> analysis{*this, "analysis",
                        llvm::cl::desc("Find the summaries of kernels"),
                        llvm::cl::init(true)};
  Option<bool> directives{*this, "directives",
                          llvm::cl::desc("Insert directives"),
                          llvm::cl::init(true)};
  Option<bool> slicing{*this, "slicing",
                       llvm::cl::desc("Add copies of kernels for slices"),
                       llvm::cl::init(true)};
  Option<bool> lowering{*this, "lowering",
                        llvm::cl::desc("To the LLVM dialect, both sides"),
                        llvm::cl::init(true)};
};

/// From a program in the gpu dialect to what dragon-translate takes.
void buildDragonPipeline(mlir::OpPassManager &manager,
                         const DragonPipelineOptions &options);

/// Makes all passes and the pipeline known by name.
void registerDragonPasses();

} // namespace dragon::ir

#endif // DRAGON_MLIR_PASSES_H
