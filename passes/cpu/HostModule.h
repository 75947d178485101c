//===- HostModule.h - the shell of a lowered module -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frame of a lowered module: its variables, triple, attributes and linkage.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_HOSTMODULE_H
#define DRAGON_PASSES_CPU_HOSTMODULE_H

#include "passes/cpu/HostKernels.h"
#include "passes/cpu/Unsupported.h"

#include "llvm/ADT/SmallVector.h"

namespace dragon {

/// Drops what no kernel needs, resolves __nvvm_reflect.
void prepareDeviceModule(llvm::Module &M,
                         llvm::ArrayRef<llvm::Function *> Kernels);

/// Refuses what uses variables that other translation units define.
void refuseForeignVariables(llvm::Module &M, Unsupported &Refused);

/// Moves the __device__ and __constant__ variables to the host's memory and
/// returns those that have a name for the program.
llvm::SmallVector<HostVariable, 8> moveVariables(llvm::Module &M);

/// Of a module that is not a host's yet: sm_90a -> 90; 0: it does not say.
unsigned gpuArchitecture(const llvm::Module &M);

/// Triple, data layout, attributes, metadata, linkage; code for `Processor` (""
/// = any of the architecture).
void makeHostModule(llvm::Module &M, llvm::StringRef Processor);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_HOSTMODULE_H
