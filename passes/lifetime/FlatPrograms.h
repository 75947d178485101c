//===- FlatPrograms.h - the buffer programs of a module ------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of a module from which device memory is used, each in a
// flattened copy with its buffer program. Calls that were left out and turn out
// to matter are taken in, and the program is built anew. As long as this lives
// the copies are in the module, and those that nobody adopts go with it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_FLATPROGRAMS_H
#define DRAGON_PASSES_LIFETIME_FLATPROGRAMS_H

#include "passes/lifetime/BufferProgramBuilder.h"
#include "passes/lifetime/FlatFunction.h"

namespace dragon {

struct FlatProgram {
  std::unique_ptr<FlatFunction> Flat;
  /// The analysis' result: valid until Flat is adopted.
  BuiltProgram *Built;
};

class FlatPrograms {
public:
  /// Limit: of instructions, for each function.
  FlatPrograms(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses,
               unsigned Limit);
  ~FlatPrograms();
  FlatPrograms(const FlatPrograms &) = delete;
  FlatPrograms &operator=(const FlatPrograms &) = delete;

  std::vector<FlatProgram>::const_iterator begin() const {
    return Programs.begin();
  }
  std::vector<FlatProgram>::const_iterator end() const {
    return Programs.end();
  }

private:
  void add(llvm::Function &F, llvm::FunctionAnalysisManager &Analyses,
           unsigned Limit);

  llvm::Module &M;
  const RelevantFunctions Relevant;
  /// Those that there were before.
  llvm::SmallPtrSet<const llvm::Function *, 16> Intrinsics;
  std::vector<FlatProgram> Programs;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_FLATPROGRAMS_H
