//===- KeptAccesses.h - accesses that no pass may remove --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is simplified before its accesses are looked at. What it accesses is
// to be found all the same: loads have a use that no pass removes, stores are
// volatile.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_KEPTACCESSES_H
#define DRAGON_PASSES_ACCESS_KEPTACCESSES_H

namespace llvm {
class Function;
} // namespace llvm

namespace dragon {

/// Loads stay, whatever becomes of their value. Loads of local variables become
/// values, and the use goes with them. Not of pointers: while its address has a
/// use, a local variable remains in memory.
void keepLoads(llvm::Function &F);
/// As keepLoads(), now that one can see what is local: all loads but those of
/// local variables have one use, next to them.
void keepLoadsAnew(llvm::Function &F);
/// Stores and copies stay.
void keepStores(llvm::Function &F);
/// Structures that lie in memory are copied to local variables: these become
/// reads of their fields, as long as nothing holds the copies.
bool copiesToVariables(const llvm::Function &F);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_KEPTACCESSES_H
