//===- KernelAccessPass.cpp - -dragon-kernel-access -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"
#include "passes/mlir/access/KernelAccess.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_DRAGONKERNELACCESS
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

class KernelAccessPass : public impl::DragonKernelAccessBase<KernelAccessPass> {
  void runOnOperation() override {
    getOperation().walk([](gpu::GPUFuncOp Kernel) {
      if (!Kernel.isKernel())
        return;
      // Each has expressions of its own: their numbers depend on nothing else.
      ExprPool Pool;
      KernelAccesses Found = analyzeKernel(Kernel, Pool);
      Kernel->setAttr(SummaryAttrName,
                      toAttribute(*Kernel.getContext(), Pool, Found.Summary));
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
    });
  }
};

} // namespace

} // namespace dragon::ir
