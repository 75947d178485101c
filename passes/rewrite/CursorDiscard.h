//===- CursorDiscard.h - how much lies behind a cursor -------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operands of a discard behind a cursor (passes/placement/Cursors.h): the
// bytes from the buffer's beginning to where the cursor is in the next
// iteration,
//
//   (operand - base) - above + step
//
// and the condition: the step is not negative, and no launch reads below its
// pointer.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_CURSORDISCARD_H
#define DRAGON_PASSES_REWRITE_CURSORDISCARD_H

#include "passes/lifetime/BufferProgramBuilder.h"
#include "passes/placement/Directive.h"

#include <optional>

namespace llvm {
class ScalarEvolution;
} // namespace llvm

namespace dragon {

struct CursorDiscard {
  llvm::Value *Condition; ///< i32
  llvm::Value *Bytes;     ///< i64
};

/// Launches must read nothing below. In front of Point; nothing if the numbers
/// are not known there.
std::optional<CursorDiscard>
emitCursorDiscard(const Directive &D, llvm::ArrayRef<EventRef> Launches,
                  const BuiltProgram &Built, const KernelSummaries &Kernels,
                  llvm::ScalarEvolution &Evolution, llvm::Instruction &Point);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_CURSORDISCARD_H
