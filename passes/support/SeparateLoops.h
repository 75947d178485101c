//===- SeparateLoops.h - loops of functions called twice --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop in a function that a kernel calls from two places is two loops of the
// kernel: each has its own range and its own place. So such calls are inlined,
// and the loops of each get numbers of their own (LoopTags.h), behind those
// that the kernel's own loops have:
//
//   float part(const float *x, int from, int to);   // with the loop 4096
//   out[t] = part(x, 0, n / 2) + part(x, n / 2, n); // the loops 1 and 2
//
// The numbers depend on the code alone: what is done to a copy of a module and
// to the module gives the same ones.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_SEPARATELOOPS_H
#define DRAGON_PASSES_SUPPORT_SEPARATELOOPS_H

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

/// Whether separateLoops() would change the kernel.
bool hasLoopsToSeparate(llvm::Function &Kernel);

/// Inlines calls in `Code` of functions with loops that it comes to by several
/// ways, unless it becomes too large by that. `Kernel`: whose numbers
/// the loops get: `Code` is its copy, or itself. All loops have their numbers.
void separateLoops(llvm::Function &Code, const llvm::Function &Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_SEPARATELOOPS_H
