//===- ModuleEmbedding.h - what an object tells the runtime -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts into a host module the `dragon_module` descriptor of
// dragon/CompilerABI.h: the kernel summaries, the kernels for the host
// processor (dragon_cpu_module_<id>, defined in another object), the fat
// binary's wrapper; and a constructor that hands it to the runtime before
// clang's own constructor registers the fat binary.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_MODULEEMBEDDING_H
#define DRAGON_PASSES_REWRITE_MODULEEMBEDDING_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

struct EmbeddingOptions {
  llvm::StringRef Summary; ///< the blob; empty: none
  llvm::StringRef ModuleId;
  llvm::StringRef Source;
  bool Cpu = false;
  bool Relocatable = false; ///< the device link tells it all

  /// By passes/Options.h.
  static EmbeddingOptions given(const llvm::Module &M, llvm::StringRef Summary);
};

/// Returns false, and leaves M alone, if there is nothing to tell: no summary,
/// no fat binary, no kernels for the host processor; or if the device link
/// does.
bool embedModule(llvm::Module &M, const EmbeddingOptions &Options);

/// Clang registers kernels and variables behind the unit's own constructors.
/// These may launch kernels (a global Thrust vector does), and with nvcc they
/// can: there registration comes first.
void registerBeforeConstructors(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_MODULEEMBEDDING_H
