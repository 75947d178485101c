//===- Pipeline.cpp - from the gpu dialect to LLVM's ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels are looked at while loops and memrefs are still there; then both
// sides are lowered: kernels by upstream's passes, host functions by ours.
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"
#include "passes/mlir/lowering/Supported.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace dragon::ir {

static void lower(OpPassManager &Manager) {
  Manager.addPass(createConvertVectorToSCFPass());
  Manager.addPass(createSimplifyVectors());
  Manager.addPass(createLowerAffinePass());
  Manager.addPass(createSCFToControlFlowPass());
  Manager.addPass(memref::createExpandStridedMetadataPass());
  Manager.addPass(createLowerAffinePass()); // of what that made
  Manager.addPass(arith::createArithExpandOpsPass());

  Manager.addPass(createLowerKernels());

  // Functions that LLVM has, before those of the C library.
  Manager.addPass(createConvertMathToLLVMPass());
  Manager.addPass(createConvertMathToLibmPass());
  Manager.addPass(createConvertDragonToLLVM());
  Manager.addPass(createReconcileUnrealizedCastsPass());
  Manager.addPass(createCheckLowered());
  Manager.addPass(createDragonLocations());
  // Lines for remarks, as clang keeps them: none in the object, since ptxas
  // does not optimise code with debug information.
  LLVM::DIScopeForLLVMFuncOpPassOptions Lines;
  Lines.emissionKind = LLVM::DIEmissionKind::None;
  Manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass(Lines));
}

void buildDragonPipeline(OpPassManager &Manager,
                         const DragonPipelineOptions &Options) {
  // Numbers that are known are better in the kernel than among its arguments.
  Manager.addPass(createGpuLaunchSinkIndexComputationsPass());
  Manager.addPass(createGpuKernelOutliningPass());
  Manager.addPass(createDragonUniqueSymbols());
  Manager.addPass(createInlinerPass());
  Manager.addPass(createCanonicalizerPass());
  if (Options.directives) {
    Manager.addPass(createDragonUnrollExchanges());
    Manager.addPass(createCanonicalizerPass());
  }
  Manager.addPass(createCSEPass());
  if (Options.analysis)
    Manager.addPass(createDragonKernelAccess());
  if (Options.directives)
    Manager.addPass(createDragonInsertDirectives());
  if (Options.slicing)
    Manager.addPass(createDragonSliceKernels());
  if (Options.lowering)
    lower(Manager);
}

} // namespace dragon::ir
