//===- OverwriteTest.h - will that launch overwrite it? -------- -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a launch overwrites a buffer is a matter of numbers: the grid, the
// block, the kernel's scalar arguments; whether a copy or a fill does, of its
// size. If these are known before the call,
// where the contents die, and do not change until then, the question can be put
// to the runtime there (LaterValues.h). The answer is a number of bytes: what
// the next call overwrites is dead now, whatever becomes of the rest.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_OVERWRITETEST_H
#define DRAGON_PASSES_REWRITE_OVERWRITETEST_H

#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>

namespace llvm {
class CallBase;
class Instruction;
class Value;
} // namespace llvm

namespace dragon {

class KernelSummaries;
class LaterValues;

/// Whether the call, the first after Point that touches the buffer at Address,
/// overwrites it.
class OverwriteTest {
public:
  /// Nothing if the numbers are not at hand. Values: those of the launch, at
  /// the point.
  /// Operand: of a launch, the pointer; of a copy or fill from the buffer's
  /// beginning on, its bytes.
  static std::optional<OverwriteTest>
  plan(llvm::CallBase &Call, unsigned Operand, llvm::Instruction &Point,
       std::shared_ptr<LaterValues> Values, const KernelSummaries &Kernels);
  /// The test in front of the point: an i64, how many bytes from the buffer's
  /// beginning are overwritten; all if the call is surely not reached.
  llvm::Value *emit(llvm::Value &Address) const;

private:
  llvm::Value *overwrittenByLaunch(llvm::Value &Address) const;

  llvm::CallBase *Call;
  llvm::CallBase *Push = nullptr; ///< a launch's configuration
  llvm::Instruction *Point;
  const KernelSummaries *Kernels;
  std::shared_ptr<LaterValues> Values; ///< of what the call is given
  unsigned Operand;
  llvm::SmallVector<unsigned, 8> Copied; ///< parameters whose values matter
};

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_OVERWRITETEST_H
