//===- WholeProgram.h - the units of a program together ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At the link, the host code of all units that have bitcode is one module, and
// lld has made internal what only they use. There directives are inserted as in
// a single unit, with the kernel summaries of all:
//
//   a.cu:  Field f(n);                 the constructor allocates
//   b.cu:  void step(Field &f) {...}   launches a kernel of b.cu
//
// Functions of objects without bitcode are unknown code, and may call whatever
// they can name. Directives are described in docs/driver.md.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_WHOLEPROGRAM_H
#define DRAGON_PASSES_REWRITE_WHOLEPROGRAM_H

#include "llvm/IR/PassManager.h"

#include <functional>

namespace dragon {

/// `dragon-whole-program`. Does nothing to a module without units.
class WholeProgramPass : public llvm::PassInfoMixin<WholeProgramPass> {
public:
  /// Units have seen no optimisation: Pipeline makes up for it.
  explicit WholeProgramPass(
      std::function<llvm::ModulePassManager()> Pipeline = nullptr)
      : Pipeline(std::move(Pipeline)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::function<llvm::ModulePassManager()> Pipeline;
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_WHOLEPROGRAM_H
