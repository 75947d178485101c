//===- HostLoops.h - the host's own loops, compiled apart -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that directives were inserted into has taken in the functions that
// it calls, and holds every buffer's address in a value of its own. What it
// does besides, such as making input or checking results in a loop over a host
// buffer, has nothing to do with that, but would share its registers: in
//
//   for (...) host[i] = f(i);  cudaMemcpy(d, host, ...);  launch; launch; ...
//
// `host` and `i` were spilled to the stack in every iteration. So such a loop
// becomes a function, as if the program had it so, and is compiled by itself.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_HOSTLOOPS_H
#define DRAGON_PASSES_REWRITE_HOSTLOOPS_H

#include "llvm/IR/PassManager.h"

namespace dragon {

/// Moves each outermost loop of F that makes no call, and reaches no variable
/// of F by address, into a function. Returns whether there is one.
bool separateHostLoops(llvm::Function &F,
                       llvm::FunctionAnalysisManager &Analyses);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_HOSTLOOPS_H
