//===- AddressSpaces.h - one address space on the host ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device code has pointers of address spaces (global, shared, local, constant),
// with casts between them. On the host all pointers are in address space 0.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_ADDRESSSPACES_H
#define DRAGON_PASSES_CPU_ADDRESSSPACES_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// All pointers in M become pointers of address space 0.
llvm::Error flattenAddressSpaces(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_ADDRESSSPACES_H
