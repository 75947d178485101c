//===- ContextParameters.h - the thread's context everywhere ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives each function that needs the running thread's context the hidden
// parameters of ThreadContext, and hands them down. Functions that are called
// through pointers keep a wrapper of their own type, which asks the runtime for
// the context.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_CONTEXTPARAMETERS_H
#define DRAGON_PASSES_CPU_CONTEXTPARAMETERS_H

#include "passes/cpu/ThreadContext.h"

#include "llvm/ADT/MapVector.h"
#include <memory>

namespace dragon {

/// The functions with hidden parameters.
using ContextMap =
    llvm::MapVector<llvm::Function *, std::unique_ptr<ThreadContext>>;

/// Replaces kernels and functions that need the context. `Kernels` is updated
/// to the new functions.
ContextMap
addContextParameters(llvm::Module &M,
                     llvm::SmallVectorImpl<llvm::Function *> &Kernels);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_CONTEXTPARAMETERS_H
