//===- KernelAccessPass.cpp - -dragon-kernel-access -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"
#include "passes/mlir/access/Calls.h"
#include "passes/mlir/access/KernelAccess.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_DRAGONKERNELACCESS
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

class KernelAccessPass : public impl::DragonKernelAccessBase<KernelAccessPass> {
  void runOnOperation() override {
    // Copies for slices are made once, and are nothing that a program launches.
    llvm::DenseMap<Operation *, gpu::GPUFuncOp> SliceOf;
    getOperation().walk([&](gpu::GPUFuncOp Kernel) {
      SummaryAttr Summary = summaryOf(Kernel);
      if (!Summary || !Summary.getSliceName())
        return;
      if (auto Slice = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
              Kernel, Summary.getSliceName()))
        SliceOf[Kernel] = Slice;
    });
    llvm::DenseSet<Operation *> Slices;
    for (auto [Kernel, Slice] : SliceOf)
      Slices.insert(Slice);
    SmallVector<gpu::GPUFuncOp> Kernels;
    getOperation().walk([&](gpu::GPUFuncOp Kernel) {
      if (Kernel.isKernel() && !Slices.contains(Kernel))
        Kernels.push_back(Kernel);
    });
    for (gpu::GPUFuncOp Kernel : Kernels) {
      // Each has expressions of its own: their numbers depend on nothing else.
      ExprPool Pool;
      gpu::GPUFuncOp Whole = Kernel;
      if (callsFunctions(Kernel)) {
        Whole = Kernel.clone();
        OpBuilder::atBlockEnd(Kernel->getBlock()).insert(Whole);
        takeInCalls(Whole);
      }
      KernelAccesses Found = analyzeKernel(Whole, Pool);
      SummaryAttr Summary =
          toAttribute(*Kernel.getContext(), Pool, Found.Summary);
      if (gpu::GPUFuncOp Slice = SliceOf.lookup(Kernel);
          Slice && bitEnumContainsAll(Summary.getKind(), KernelKind::sliceable))
        Summary = withSlice(Summary, Slice.getName());
      Kernel->setAttr(SummaryAttrName, Summary);
      for (const AccessNote &Note : Found.Notes)
        remark::missed(Note.At->getLoc(),
                       remark::RemarkOpts::name("KernelAccess")
                           .category("dragon")
                           .function(Kernel.getName()))
            << Note.What;
      if (!Found.Summary.WhyNotSliceable.empty())
        remark::missed(Kernel.getLoc(), remark::RemarkOpts::name("NotSliced")
                                            .category("dragon")
                                            .function(Kernel.getName()))
            << ("kernel '" + Kernel.getName() +
                "' does not run in slices: " + Found.Summary.WhyNotSliceable)
                   .str();
      if (Whole != Kernel)
        Whole.erase();
    }
  }
};

} // namespace

} // namespace dragon::ir
