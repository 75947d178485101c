//===- Footprint.h - index arithmetic to summary expressions ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates what ScalarEvolution knows of a kernel's integers into the
// expression nodes of the kernel summary. The runtime evaluates them with the
// numbers of a launch (FootprintEval.h), so nothing is decided here: what is
// linear only once the launch is known (row * width + col) stays as it is.
//
//   {4*(blockIdx.x*blockDim.x + threadIdx.x),+,4*stride}<loop>
//     -> Add(Mul(4, Add(Mul(BlockIdx, BlockDim), ThreadIdx)),
//            Mul(Mul(4, stride), Loop #1))
//
// What ScalarEvolution does not model (signed division, masks, choices) is
// translated from the instruction. A value that comes from a buffer is what
// lies at its address (Loaded), if that can be told; else it is Unknown.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_FOOTPRINT_H
#define DRAGON_PASSES_ACCESS_FOOTPRINT_H

#include "dragon/SummaryBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class ExtractElementInst;
class Instruction;
class IntrinsicInst;
class LoadInst;
class Loop;
class LoopInfo;
class PHINode;
class SCEV;
class SCEVAddRecExpr;
class ScalarEvolution;
class Type;
class Value;
} // namespace llvm

namespace dragon {

class Footprint {
public:
  Footprint(ExprPool &Pool, llvm::ScalarEvolution &SE, llvm::LoopInfo &LI)
      : Pool(Pool), SE(SE), LI(LI) {}

  /// What a node says of the value it was made for.
  struct Index {
    uint32_t Node;
    /// Something in it is only known by bounds, or not at all.
    bool Exact = true;
    /// It depends on loaded data.
    bool Loaded = false;
  };

  /// The value S as an instruction in the loop nest of Scope sees it (Scope
  /// null: outside of all loops). Pointers are numbers of 64 bits.
  Index translate(const llvm::SCEV *S, const llvm::Loop *Scope);
  Index translate(llvm::Value &V, const llvm::Loop *Scope);

  /// The node that counts L's iterations.
  Index counterOf(const llvm::Loop &L);
  /// The number of that node, if it was asked for.
  std::optional<uint32_t> numberOf(const llvm::Loop &L) const;
  /// The counter's bound is the exact number of times that the backedge is
  /// taken, if the loop is left normally.
  bool hasExactCount(const llvm::Loop &L);

  /// A counter of its own, 0 .. Count (a node).
  uint32_t freshCounter(uint32_t Count) { return Pool.loop(NextLoop++, Count); }

  ExprPool &pool() { return Pool; }

  /// Loop numbers are unique within a kernel; call between kernels.
  unsigned nextLoop() const { return NextLoop; }

private:
  Index compute(const llvm::SCEV *S, const llvm::Loop *Scope);
  Index computeAddRec(const llvm::SCEVAddRecExpr &Rec, const llvm::Loop *Scope);
  Index computeValue(llvm::Value &V, const llvm::Loop *Scope);
  Index computeInstruction(llvm::Instruction &I, const llvm::Loop *Scope,
                           unsigned Bits);
  Index computeLoad(llvm::LoadInst &Load, unsigned Bits);
  Index computeElement(llvm::ExtractElementInst &Element, unsigned Bits);
  Index computeIntrinsic(llvm::IntrinsicInst &Call, const llvm::Loop *Scope,
                         unsigned Bits);
  Index highHalf(Index A, Index B, bool Signed);
  Index computePhi(llvm::PHINode &Phi, unsigned Bits);
  // In Cycles.cpp.
  Index computeCycle(llvm::PHINode &Phi, unsigned Bits);
  Index computeCarried(llvm::PHINode &Phi, unsigned Bits);
  uint32_t whereLoopGoesOn(llvm::PHINode &Phi, uint32_t Value);
  bool steps(llvm::Value &V, llvm::PHINode &Phi, unsigned Depth, Index &Least,
             Index &Most);
  Index translateAtAnyTime(llvm::Value &V, const llvm::Loop *Now);
  Index combine(ExprOp Op, Index A, Index B, uint8_t Flags = 0);
  Index between(Index A, Index B);
  Index chosen(llvm::Value &Condition, Index IfTrue, Index IfFalse,
               const llvm::Loop *Scope);
  Index unknown(unsigned Bits, bool Loaded);
  uint32_t bounded(llvm::Value &V, unsigned Bits);
  unsigned bitsOf(llvm::Type *T);

  ExprPool &Pool;
  llvm::ScalarEvolution &SE;
  llvm::LoopInfo &LI;
  llvm::DenseMap<std::pair<const llvm::SCEV *, const llvm::Loop *>, Index>
      Known;
  llvm::DenseMap<const llvm::Loop *, Index> Counters;
  llvm::DenseMap<const llvm::Value *, Index> Values;
  llvm::SmallPtrSet<const llvm::Value *, 8> Active;
  /// What phis were an iteration before, while that is asked for.
  llvm::SmallDenseMap<const llvm::Value *, uint32_t, 2> Earlier;
  unsigned NextLoop = 0;
  unsigned Depth = 0;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_FOOTPRINT_H
