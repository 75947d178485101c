//===- ConstantAddresses.h - counters of constant memory --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for (m = 0; m < n; ++m)
//     sum += k[m].x * a[m];                 k in __constant__ memory
//
// All threads read the same place of k, and a multiprocessor has registers and
// loads for what is the same in a warp (ULDC). The assembler takes them if the
// address is computed from such registers alone. The counter m is also part of
// the address of a[m], which lies in each thread's registers, and takes k's
// along: each thread loads for itself (LDC), with three times the latency.
//
// The pass gives what a loop reads of a variable in constant memory a pointer
// of its own, which each iteration advances.
//
// Source: the form is that of NVIDIA's compiler, read from its SASS.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_CONSTANTADDRESSES_H
#define DRAGON_PASSES_CODEGEN_CONSTANTADDRESSES_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// `dragon-constant-addresses`: adds counters to loops of the functions of
/// NVPTX modules, and does nothing to other modules.
class ConstantAddressesPass
    : public llvm::PassInfoMixin<ConstantAddressesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_CONSTANTADDRESSES_H
