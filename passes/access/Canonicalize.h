//===- Canonicalize.h - device code in a form to be analysed ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plugin sees device code as clang emits it: at -O0 or before the first
// optimisation. The access analysis wants kernels with everything inlined,
// values in registers and loops as they were written. So it works on a copy of
// the module that is brought into this form: inlining of all that is not
// recursive, scalar replacement, simplification; no loop is rotated, unrolled
// or vectorised (the condition at the head of a source loop is what tells how
// far its counter goes).
//
// A structure passed by value is an argument in memory that the kernel reads
// wherever it needs a field; unless it is written, each field is read once, in
// the entry block: `s.n` is one value then, not many.
//
// The code that runs may do more than the simplified code: at -O0 a value that
// nobody uses is loaded all the same. So nothing that touches memory of the
// program may be simplified away (but a load of what the thread has just
// loaded or stored). Loaded values are given a use (llvm.fake.use), stores and
// copies become volatile, unless they are of local variables.
//
// Debug information is kept, so that names and lines can be given.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_CANONICALIZE_H
#define DRAGON_PASSES_ACCESS_CANONICALIZE_H

#include "llvm/IR/PassManager.h"
#include <cstdint>
#include <memory>
#include <optional>

namespace llvm {
class Argument;
class Function;
class LoadInst;
class Module;
} // namespace llvm

namespace dragon {

/// True for `__global__` functions with a body.
bool isKernel(const llvm::Function &F);

/// A structure passed by value that the kernel never changes.
bool isUnchangedByValue(llvm::Argument &Arg);

/// The argument and byte offset that Load reads a field of, if the argument is
/// an unchanged structure and the offset is constant.
struct FieldPlace {
  llvm::Argument *Arg;
  uint64_t Offset;
};
std::optional<FieldPlace> fieldReadBy(llvm::LoadInst &Load);

/// The optimiser's first step, before the module is copied for the analysis and
/// for the host processor: variables become values. All statements on kernels
/// are on this code. Returns true if M changed.
bool promoteVariables(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses);

/// Changes M in place; its effects stay the same.
void canonicalizeForAnalysis(llvm::Module &M);

/// A canonicalised copy. Its loops have tags (LoopTags.h).
std::unique_ptr<llvm::Module> canonicalizedCopy(const llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_CANONICALIZE_H
