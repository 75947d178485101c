//===- Writers.h - what computes a buffer's contents ---------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_WRITERS_H
#define DRAGON_PASSES_PLACEMENT_WRITERS_H

#include "passes/placement/FlowGraph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace dragon {

/// What may write the device buffer on the device, and precede End.
llvm::SmallVector<EventRef, 4> writersBefore(const BufferProgram &Program,
                                             const FlowGraph &Graph,
                                             unsigned Buffer, EventRef End);

/// The point in front of all writers that is passed once; nothing if there is
/// none.
std::optional<EventRef> pointInFrontOf(llvm::ArrayRef<EventRef> Writers,
                                       const BufferProgram &Program,
                                       const FlowGraph &Graph);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_WRITERS_H
