//===- CalleeAccess.h - functions that are not inlined ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel calls is inlined for the analysis, unless it is too large. Of
// such a function it is enough to know that all addresses it uses begin at its
// arguments, at local or shared variables: then it touches no memory but what
// the caller's pointers lead to. LLVM infers that too, but gives up at inline
// assembly, which matrix products are made of, and at shared memory.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_CALLEEACCESS_H
#define DRAGON_PASSES_ACCESS_CALLEEACCESS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

struct CalleeAccess {
  llvm::SmallVector<uint8_t, 8> Kinds; ///< AccessFlags, by argument
  uint32_t Flags = 0;                  ///< KernelHasBarrier, KernelHasPrintf
  bool ThreadsMayExit = false;

  bool operator==(const CalleeAccess &Other) const {
    return Kinds == Other.Kinds && Flags == Other.Flags &&
           ThreadsMayExit == Other.ThreadsMayExit;
  }
};

/// KernelHasBarrier and KernelHasPrintf of what inline assembly does, and
/// whether threads may end in it.
CalleeAccess effectsOfAssembly(llvm::StringRef Text);

/// True for intrinsics whose operands are descriptors of memory elsewhere.
bool usesDescriptor(llvm::StringRef Intrinsic);

/// Of the function and all that it calls. None: it may use another address.
std::optional<CalleeAccess> accessOfCallee(llvm::Function &Callee);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_CALLEEACCESS_H
