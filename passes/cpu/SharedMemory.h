//===- SharedMemory.h - __shared__ on the host ------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Static __shared__ variables become offsets in the block's shared memory.
// Variables get the lowest offset at which they overlap none that the same
// kernel can reach: two kernels may use the same bytes for different variables,
// and each asks for no more than its own take. Dynamic shared memory begins
// where the runtime says (dragon_cpu_context::static_bytes).
//
// A pointer to shared memory is an ordinary address; as a number (ptrtoint,
// what
// __cvta_generic_to_shared gives) it is the offset, as on the GPU.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_SHAREDMEMORY_H
#define DRAGON_PASSES_CPU_SHAREDMEMORY_H

#include "passes/cpu/ContextParameters.h"

#include "llvm/Support/Error.h"

namespace dragon {

/// Makes instructions of the constant expressions that shared variables are in.
llvm::Error exposeSharedVariables(llvm::Module &M);

/// Replaces the variables; returns the bytes that each kernel needs.
llvm::DenseMap<llvm::Function *, uint32_t>
lowerSharedMemory(llvm::Module &M, ContextMap &Contexts,
                  llvm::ArrayRef<llvm::Function *> Kernels);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_SHAREDMEMORY_H
