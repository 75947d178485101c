//===- Patterns.h - host operations to calls --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of -convert-dragon-to-llvm, and what its patterns share.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LOWERING_PATTERNS_H
#define DRAGON_PASSES_MLIR_LOWERING_PATTERNS_H

#include "passes/mlir/lowering/HostCalls.h"
#include "passes/mlir/lowering/HostPlan.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"

namespace dragon::ir {

/// What is made for one module.
struct HostLowering {
  explicit HostLowering(mlir::ModuleOp Module) : Calls(Module), Plan(Module) {}

  HostCalls Calls;
  const HostPlan Plan;
};

template <typename SourceOp>
class HostPattern : public mlir::ConvertOpToLLVMPattern<SourceOp> {
public:
  HostPattern(const mlir::LLVMTypeConverter &Converter, HostLowering &Lowering)
      // In front of those that come with the dialects.
      : mlir::ConvertOpToLLVMPattern<SourceOp>(Converter, /*benefit=*/10),
        Calls(Lowering.Calls), Plan(Lowering.Plan) {}

protected:
  /// Where the buffer that a memref describes begins.
  mlir::Value bufferOf(mlir::ConversionPatternRewriter &Rewriter,
                       mlir::Location Loc, mlir::Type Ty,
                       mlir::Value Lowered) const;
  /// From there to the end. Null where the elements are not in one piece.
  mlir::Value bytesOf(mlir::ConversionPatternRewriter &Rewriter,
                      mlir::Location Loc, mlir::Type Ty,
                      mlir::Value Lowered) const;
  mlir::Value elementsOf(mlir::ConversionPatternRewriter &Rewriter,
                         mlir::Location Loc, mlir::Type Ty,
                         mlir::Value Lowered) const;

  /// A buffer of the type by __dragon_malloc.
  mlir::Value allocate(mlir::ConversionPatternRewriter &Rewriter,
                       mlir::Location Loc, mlir::MemRefType Ty,
                       mlir::ValueRange Sizes, uint32_t Flags) const;
  /// A descriptor of the type, from a place that holds the address.
  mlir::Value describe(mlir::ConversionPatternRewriter &Rewriter,
                       mlir::Location Loc, mlir::MemRefType Ty,
                       mlir::ValueRange Sizes, mlir::ValueRange Strides,
                       mlir::Value Place) const;

  HostCalls &Calls;
  const HostPlan &Plan;
};

void populateGpuPatterns(const mlir::LLVMTypeConverter &Converter,
                         mlir::RewritePatternSet &Patterns,
                         HostLowering &Lowering);
void populateDragonPatterns(const mlir::LLVMTypeConverter &Converter,
                            mlir::RewritePatternSet &Patterns,
                            HostLowering &Lowering);

/// Blocks and threads as in CompilerABI.h: x and y in one word, z.
struct LaunchShape {
  mlir::Value GridXY, GridZ, BlockXY, BlockZ;
};
LaunchShape launchShape(mlir::OpBuilder &Builder, mlir::Location Loc,
                        HostCalls &Calls, mlir::ValueRange Grid,
                        mlir::ValueRange Block);

/// The constructor that registers the kernels that the module launches. The
/// compiler plugin gives it the fat binary.
void registerKernels(mlir::ModuleOp Module, HostCalls &Calls);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LOWERING_PATTERNS_H
