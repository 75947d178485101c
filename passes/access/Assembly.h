//===- Assembly.h - inline assembly that touches memory ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The headers of CUDA have cached loads, atomics on half precision and the like
// as inline assembly of one instruction:
//
//   asm("ld.global.cg.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(p))
//
// reads 8 bytes at p. Instructions on registers, and loads, stores and atomics
// whose address is an operand, with or without a constant, are understood; of
// anything else one can only say whether it may touch memory.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_ASSEMBLY_H
#define DRAGON_PASSES_ACCESS_ASSEMBLY_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace llvm {
class CallBase;
class StringRef;
class Value;
} // namespace llvm

namespace dragon {

/// Width bytes at Address (a pointer, or a number of 64 bits) + Offset.
struct AssemblyAccess {
  llvm::Value *Address;
  int64_t Offset;
  uint64_t Width;
  uint8_t Kinds; ///< AccessFlags
};

/// The accesses to memory that a buffer may be in; nothing if they are not
/// understood.
std::optional<llvm::SmallVector<AssemblyAccess, 2>>
accessesOfAssembly(llvm::CallBase &Call);

/// Whether an instruction in it may touch memory.
bool touchesMemory(llvm::StringRef Assembly);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_ASSEMBLY_H
