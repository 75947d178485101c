//===- LoopBounds.h - how large a value gets in a loop --------- -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grid of a launch in a loop is often another in the last iteration:
//
//   count = min(total - start, window);
//   kernel<<<(count + 255) / 256, 256>>>(...);
//
// What it never exceeds, (window + 255) / 256, can be computed from values that
// do not change in the loop. Bounds are of unsigned numbers, and computed with
// saturation: a bound that is too large for 64 bits is the largest number.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_LOOPBOUNDS_H
#define DRAGON_PASSES_REWRITE_LOOPBOUNDS_H

namespace llvm {
class Instruction;
class Loop;
class SCEV;
class SCEVExpander;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace dragon {

class LoopBounds {
public:
  LoopBounds(llvm::ScalarEvolution &Evolution, llvm::SCEVExpander &Expander,
             const llvm::Loop &L, llvm::Instruction &Point)
      : Evolution(Evolution), Expander(Expander), L(L), Point(Point) {}

  /// Whether the value is the same in all iterations, and can be had at the
  /// point.
  bool isFixed(const llvm::SCEV *S) const;
  llvm::Value *fixed(const llvm::SCEV *S);

  /// Whether largest() has an answer.
  bool isBounded(const llvm::SCEV *S) const;
  /// An i64 that the unsigned value is never above, in no iteration.
  llvm::Value *largest(const llvm::SCEV *S);

  /// The lower or upper 32 bits of a 64-bit number, which clang has made from
  /// two of 32; null if that is not seen.
  const llvm::SCEV *half(llvm::Value *V, bool Upper);

private:
  llvm::ScalarEvolution &Evolution;
  llvm::SCEVExpander &Expander;
  const llvm::Loop &L;
  llvm::Instruction &Point;
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_LOOPBOUNDS_H
