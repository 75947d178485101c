//===- ReadTest.h - does that launch read below its pointer? --- -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel reads signal[i + t]. Whether i may be negative is a matter of
// numbers: blockIdx.x * blockDim.x + threadIdx.x is, where 32 bits are too few
// for the grid. The question is put to the runtime for all launches that a loop
// makes at once: with the block and the arguments that do not change in the
// loop, and with a grid that none of them exceeds (LoopBounds.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_READTEST_H
#define DRAGON_PASSES_REWRITE_READTEST_H

#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace llvm {
class CallBase;
class Function;
class Instruction;
class Loop;
class SCEV;
class SCEVExpander;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace dragon {

class KernelSummaries;
class LoopBounds;

class ReadTest {
public:
  /// Nothing if the numbers are not known in the loop.
  static std::optional<ReadTest> plan(llvm::CallBase &Launch, unsigned Operand,
                                      const KernelSummaries &Kernels,
                                      llvm::ScalarEvolution &Evolution,
                                      LoopBounds &Bounds);
  /// In front of the point: an i32, 1 if no launch by this call in the loop
  /// reads anything below its operand.
  llvm::Value *emit(LoopBounds &Bounds, llvm::Instruction &Point) const;

private:
  /// What goes where in the arguments.
  struct Field {
    unsigned Argument;
    uint64_t Offset;
    const llvm::SCEV *Number; ///< or null: Plain
    llvm::Value *Plain;
  };
  llvm::Function *Stub = nullptr;
  unsigned Argument = 0;
  uint32_t PointerField = 0;
  llvm::SmallVector<uint32_t, 8> Sizes;
  llvm::SmallVector<bool, 8> Known; ///< arguments
  llvm::SmallVector<Field, 8> Fields;
  const llvm::SCEV *Grid[3];
  const llvm::SCEV *Block[3];
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_READTEST_H
