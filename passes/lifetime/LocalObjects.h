//===- LocalObjects.h - objects that only the function knows ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs keep sizes and buffers in objects on the heap:
//
//   Network *net = (Network *)malloc(sizeof(Network));
//   net->inputs = inputs;
//   net->weights = (float *)malloc(net->inputs * sizeof(float));
//   ... cudaMemcpy(d, net->weights, net->inputs * sizeof(float), ...) ...
//
// Each load of `net->inputs` may give another number as long as it is memory.
// Such an object, small and of known size, that nobody else gets to see becomes
// a variable of the function, which SROA takes apart into registers.
//
// Source: the heap-to-stack conversion of LLVM's Attributor, which does without
// the object's structure and runs where calls have not been taken in yet.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_LOCALOBJECTS_H
#define DRAGON_PASSES_LIFETIME_LOCALOBJECTS_H

#include "llvm/IR/PassManager.h"

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

/// Returns whether there were any. Analyses of F are void then.
bool makeObjectsLocal(llvm::Function &F,
                      llvm::FunctionAnalysisManager &Analyses);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_LOCALOBJECTS_H
