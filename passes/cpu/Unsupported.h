//===- Unsupported.h - what cannot run on the host -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A construct without a host equivalent becomes a call that ends the program
// with a message, so that code which never gets there runs; the compiler says
// so as well, at the user's line.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_UNSUPPORTED_H
#define DRAGON_PASSES_CPU_UNSUPPORTED_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class CallBase;
class Function;
class Instruction;
class Module;
class Twine;
class Value;
} // namespace llvm

namespace dragon {

enum class UnsupportedAs { Remark, Warning, Error };

class Unsupported {
public:
  Unsupported(llvm::Module &M, UnsupportedAs How) : M(M), How(How) {}

  /// Replaces I and what follows it in its block by the failing call. `What`:
  /// "inline assembly 'wgmma...'". I is gone afterwards.
  void replace(llvm::Instruction &I, const llvm::Twine &What);

  /// The failing call's callee before the thread's context is known: takes the
  /// message.
  static bool isPlaceholder(const llvm::Function &F);
  /// Makes calls of the runtime of them. `ContextOf` gives the thread's context
  /// in a function, or null.
  void lowerPlaceholders(
      llvm::function_ref<llvm::Value *(llvm::Function &)> ContextOf);

private:
  llvm::Module &M;
  UnsupportedAs How;
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_UNSUPPORTED_H
