//===- ConstantMemory.h - what need not be in it ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clang puts every variable with linkage that is const and has a constant value
// into constant memory of the device too, such as a table of the host's:
//   extern const Entry table[];  const Entry table[20000] = {...};
// nvcc has it on the host alone. There are 64 KiB of constant memory; what no
// device code refers to goes to global memory where it would be too much. It
// is not left out: the host may know variables of its kind by name.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_CONSTANTMEMORY_H
#define DRAGON_PASSES_SUPPORT_CONSTANTMEMORY_H

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// True if M was changed.
bool relieveConstantMemory(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_CONSTANTMEMORY_H
