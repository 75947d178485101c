//===- KernelAccess.h - the accesses of a gpu.func --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What access/KernelAccess.h finds in LLVM IR, of a kernel in the gpu dialect:
// each operation that touches memory, where that memory comes from (Views.h),
// where in it (IndexExprs.h) and when (Conditions.h). What is not known makes
// the summary wider. A kernel may run in slices unless it does something whose
// meaning depends on all blocks being there at once.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_ACCESS_KERNELACCESS_H
#define DRAGON_PASSES_MLIR_ACCESS_KERNELACCESS_H

#include "dragon/SummaryBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>
#include <vector>

namespace dragon::ir {

/// Something that widened a summary, for the user.
struct AccessNote {
  mlir::Operation *At;
  std::string What;
};

struct KernelAccesses {
  KernelSummary Summary;
  std::vector<AccessNote> Notes;
};

/// Nothing but "unknown" if the kernel has arguments that cannot be described.
KernelAccesses analyzeKernel(mlir::gpu::GPUFuncOp Kernel, ExprPool &Pool);

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_ACCESS_KERNELACCESS_H
