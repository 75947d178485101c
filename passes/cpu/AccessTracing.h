//===- AccessTracing.h - kernels that tell their accesses -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts a call of dragon_cpu_access in front of each load, store and atomic
// operation whose memory may be global: what is in shared or local memory by
// its address space or by the object that it belongs to is left out. For the
// reference pager, the oracle and the table of footprints; slow.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_ACCESSTRACING_H
#define DRAGON_PASSES_CPU_ACCESSTRACING_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// In a device module whose intrinsics for memory are IR already, and whose
/// threads have no context yet.
void traceAccesses(llvm::Module &M);

/// `dragon-trace-accesses`
class AccessTracingPass : public llvm::PassInfoMixin<AccessTracingPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_ACCESSTRACING_H
