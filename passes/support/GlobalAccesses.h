//===- GlobalAccesses.h - what instructions access memory -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, stores and atomic operations, of device or host code, whose memory may
// be global: what is in shared or local memory by its address space, or by the
// object that it belongs to, is left out. For who counts or tells accesses.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_GLOBALACCESSES_H
#define DRAGON_PASSES_SUPPORT_GLOBALACCESSES_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace dragon {

struct GlobalAccess {
  llvm::Value *Pointer; ///< generic, or in the global address space
  llvm::Value *Bytes;   ///< an integer
  bool Reads;
  bool Writes;
};

/// Calls `Found` for each access that the instruction makes.
void findGlobalAccesses(llvm::Instruction &I,
                        llvm::function_ref<void(const GlobalAccess &)> Found);

/// It makes one.
bool accessesGlobalMemory(llvm::Instruction &I);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_GLOBALACCESSES_H
