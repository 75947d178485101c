//===- EntryPoints.h - calls of the runtime, in IR ------------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_ENTRYPOINTS_H
#define DRAGON_PASSES_REWRITE_ENTRYPOINTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Constant;
class CallBase;
class FunctionCallee;
class Instruction;
class Module;
class Value;
} // namespace llvm

namespace dragon {

/// A call of EntryPoints.def, in front of Before, with its location.
llvm::Value *callEntry(llvm::StringRef Name, llvm::ArrayRef<llvm::Value *> Args,
                       llvm::Instruction &Before);

/// The declaration of an entry point.
llvm::FunctionCallee entryPoint(llvm::Module &M, llvm::StringRef Name);

/// A pointer to the text, for names that entry points are told; to an empty
/// one: null.
llvm::Constant *stringConstant(llvm::Module &M, llvm::StringRef Text);

/// The staging twin of a call; empty if it has none.
llvm::StringRef stagingTwin(llvm::StringRef Name);

/// The deferred twin of a copy; empty if it has none.
llvm::StringRef deferredTwin(llvm::StringRef Name);

/// The twin of a copy of memory that holds nothing; empty if it has none.
llvm::StringRef zeroingTwin(llvm::StringRef Name);

/// Puts a call of Callee in Call's place: same results, same unwinding.
llvm::CallBase *replaceCall(llvm::CallBase &Call, llvm::FunctionCallee Callee,
                            llvm::ArrayRef<llvm::Value *> Args);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_ENTRYPOINTS_H
