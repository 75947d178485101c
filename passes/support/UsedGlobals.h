//===- UsedGlobals.h - the variables that code names ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_USEDGLOBALS_H
#define DRAGON_PASSES_SUPPORT_USEDGLOBALS_H

#include "llvm/ADT/SetVector.h"

namespace llvm {
class GlobalVariable;
class Instruction;
class Value;
} // namespace llvm

namespace dragon {

/// The variables that the instruction's operands name, also within constants,
/// but not those in initial values of others.
llvm::SmallSetVector<llvm::GlobalVariable *, 4>
variablesOf(const llvm::Instruction &I);

/// The object is in the shared memory of a block.
bool isShared(const llvm::Value &Object);

/// It is the block's, or the thread's.
bool isOwn(const llvm::Value &Object);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_USEDGLOBALS_H
