//===- MustWrite.h - reads that may come before writes ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel surely writes can replace a buffer's old contents only if no
// thread reads them before. Threads run in any order, so a read of the same
// pointer is safe only where the same thread has surely written the very bytes:
//
//   out[i] = 0;
//   for (k ...) out[i] += ...;    // reads what this thread wrote
//
// Everything else counts as a read of old contents. (A reads of another pointer
// that overlaps is the runtime's to find: it sees the addresses.)
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_MUSTWRITE_H
#define DRAGON_PASSES_ACCESS_MUSTWRITE_H

#include "passes/access/AccessRecorder.h"

namespace dragon {

/// True if some access among them may read what none of them wrote before, in
/// the same thread.
bool mayReadBeforeWrite(const std::vector<FoundAccess> &Accesses,
                        llvm::ScalarEvolution &SE, llvm::DominatorTree &DT,
                        llvm::LoopInfo &LI);

/// Leaves out accesses to bytes that another one touches in the same way under
/// fewer conditions.
void dropCovered(std::vector<FoundAccess> &Accesses);

/// Joins accesses to neighbouring bytes under the same conditions: the fields
/// of a structure, the elements of a small vector.
void joinNeighbours(std::vector<FoundAccess> &Accesses,
                    llvm::ScalarEvolution &SE, llvm::LoopInfo &LI);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_MUSTWRITE_H
