//===- LocalVariables.h - what a thread's variables hold --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch that goes on with a loop makes again what stands in front of it. So
// of a thread's variables in local memory only those matter that an iteration
// may change for a later one, or for what is behind the loop:
//
//   auto warp = tiled_partition<32>(block);        // made again
//   float sums[4] = {};                            // goes on
//   for (int i = warp.thread_rank(); i < n; ...) {
//     float4 v = x[i];                             // begins in each iteration
//     sums[i % 4] += v.x;
//   }
//   float all = BlockReduce(storage).Sum(sums[0]); // begins behind the loop
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SLICING_LOCALVARIABLES_H
#define DRAGON_PASSES_SLICING_LOCALVARIABLES_H

#include "passes/slicing/LoopExits.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class AllocaInst;
class Argument;
class CallBase;
class DominatorTree;
class Instruction;
class Loop;
class Value;
} // namespace llvm

namespace dragon {

class LocalVariables {
public:
  /// `Blocks`: those that run with iterations.
  LocalVariables(const llvm::Loop &L, const BlockSet &Blocks,
                 const llvm::DominatorTree &DT)
      : L(L), Blocks(Blocks), DT(DT) {}

  /// What is in it may be other than before the loop when an iteration begins,
  /// or when the loop has ended, and be read then.
  bool goesOn(const llvm::AllocaInst &Variable);

private:
  /// What is done with an address.
  struct Uses {
    /// Who has it then may write through it at any time.
    bool Escapes = false;
    bool IsReturned = false;
    /// Writes, and calls that write.
    llvm::SmallVector<const llvm::Instruction *, 4> Writes;
  };
  void find(const llvm::Value &Address, Uses &Found,
            llvm::SmallPtrSetImpl<const llvm::Value *> &Seen);
  void findInCall(const llvm::CallBase &Call, const llvm::Value &Address,
                  Uses &Found,
                  llvm::SmallPtrSetImpl<const llvm::Value *> &Seen);
  Uses usesOf(const llvm::Argument &Arg);
  bool beginsInside(const llvm::AllocaInst &Variable) const;

  const llvm::Loop &L;
  const BlockSet &Blocks;
  const llvm::DominatorTree &DT;
  /// While an argument is looked at, it escapes.
  llvm::DenseMap<const llvm::Argument *, Uses> Arguments;
};

} // namespace dragon

#endif // DRAGON_PASSES_SLICING_LOCALVARIABLES_H
