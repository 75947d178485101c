//===- Dragon.h - the dragon dialect ----------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps of files, buffers, prefetches, discards and kernel summaries as MLIR
// operations and attributes, with the types and meanings of dragon/dragon.h;
// docs/mlir.md lists them. For compilers that link the CMake target
// dragon::DragonDialect. Contexts own attributes; nothing here keeps state.
//
// The idea of directives as operations beside the gpu dialect's is ours; what
// they mean comes from DRAGON (SC'18) and UVM Discard (IISWC'22).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_MLIR_DRAGON_H
#define DRAGON_MLIR_DRAGON_H

#include "dragon/SummaryBuilder.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace dragon::ir {

/// Files, and what the runtime has been told.
struct StorageResource
    : public mlir::SideEffects::Resource::Base<StorageResource> {
  llvm::StringRef getName() final { return "<Storage>"; }
};

/// The attribute of a gpu.func that holds its SummaryAttr.
constexpr llvm::StringLiteral SummaryAttrName = "dragon.summary";

/// Of operations that -dragon-insert-directives has put in, and takes out when
/// it runs again.
constexpr llvm::StringLiteral InsertedAttrName = "dragon.inserted";

} // namespace dragon::ir

#include "dragon/mlir/DragonDialect.h.inc"

#include "dragon/mlir/DragonEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dragon/mlir/DragonAttributes.h.inc"

#define GET_OP_CLASSES
#include "dragon/mlir/DragonOps.h.inc"

namespace dragon::ir {

/// The summary of a kernel as an attribute. Expressions are those of Pool.
SummaryAttr toAttribute(mlir::MLIRContext &Context, const ExprPool &Pool,
                        const KernelSummary &Kernel);

/// The inverse: adds the kernel, with the expressions that it uses.
void fromAttribute(SummaryAttr From, llvm::StringRef Name, ModuleSummary &To);

/// The summary of a kernel, or null.
SummaryAttr summaryOf(mlir::gpu::GPUFuncOp Kernel);

/// The same summary of a kernel whose slices are launches of the function
/// Slice.
SummaryAttr withSlice(SummaryAttr Summary, llvm::StringRef Slice);

/// Makes the dialect known to a registry.
void registerDragonDialect(mlir::DialectRegistry &Registry);

} // namespace dragon::ir

#endif // DRAGON_MLIR_DRAGON_H
