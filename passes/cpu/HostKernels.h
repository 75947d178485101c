//===- HostKernels.h - entries of kernels on the host -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that the runtime calls. A kernel whose threads do not wait for
// each other becomes a loop over the threads of the block with the kernel's
// code inside:
//
//   void k(dragon_cpu_context *ctx, void *const *args) {
//     float *a = *(float **)args[0]; ...
//     for (z) for (y) for (x) k.thread(a, ..., ctx, x, y, z); // inlined
//   }
//
// and clang vectorises the innermost loop where it can. Where they wait at the
// block's barrier only, they take turns (ThreadTurns.h). Other kernels run one
// thread per call; the runtime gives each a fiber.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_HOSTKERNELS_H
#define DRAGON_PASSES_CPU_HOSTKERNELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm {
class Function;
class GlobalVariable;
class Module;
} // namespace llvm

namespace dragon {

struct HostKernel {
  std::string Name;
  llvm::Function *Thread; ///< the code of one thread
  uint32_t SharedBytes = 0;
  bool Optimise = true;    ///< false: compiled for a debugger
  uint32_t MaxThreads = 0; ///< of a block (__launch_bounds__); 0: any
};

struct HostVariable {
  std::string Name;
  llvm::GlobalVariable *Storage;
};

/// What the runtime is told of a module.
struct HostModuleFacts {
  llvm::StringRef Id;
  llvm::StringRef Processor; ///< that its code is for; "": any
  unsigned Architecture;     ///< the GPU's, as 90; 0: not known
};

/// Adds the entries and the table dragon_cpu_module_<Id>.
void emitHostKernels(llvm::Module &M, llvm::ArrayRef<HostKernel> Kernels,
                     llvm::ArrayRef<HostVariable> Variables,
                     const HostModuleFacts &Facts, bool Traced);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_HOSTKERNELS_H
