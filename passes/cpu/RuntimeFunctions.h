//===- RuntimeFunctions.h - what lowered code calls -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_RUNTIMEFUNCTIONS_H
#define DRAGON_PASSES_CPU_RUNTIMEFUNCTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DerivedTypes.h"
#include <optional>

namespace llvm {
class Function;
class Instruction;
class Module;
} // namespace llvm

namespace dragon {

enum class RuntimeFunction {
#define RUNTIME_FUNCTION(NAME, ...) NAME,
#include "passes/cpu/RuntimeFunctions.def"
};

/// The declaration in M.
llvm::Function *runtimeFunction(llvm::Module &M, RuntimeFunction Which);

std::optional<RuntimeFunction> runtimeFunctionByName(llvm::StringRef Name);

/// I calls a function of kind Waits, or yields because it waits.
bool letsOtherThreadsRun(const llvm::Instruction &I);
/// I calls a function that looks at the thread's context, or one that nobody
/// knows.
bool mayLookAtContext(const llvm::Instruction &I);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_RUNTIMEFUNCTIONS_H
