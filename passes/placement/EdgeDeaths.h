//===- EdgeDeaths.h - what dies on some edges ----------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind a loop that exchanges two buffers one of them is dead, and which one
// that is depends on the edge:
//
//   block end
//   pointer p a from once, b from twice
//   copy-out h p
//
// On the edge from `once` b is dead, on that from `twice` a. If there is
// another pointer that is b from `once` and a from `twice`, its buffer is dead
// at `end`; if not, such a pointer can be made. The two values of a condition
// are the edges of selects.
//
// Beside that, a pointer that is known already may be dead where a block is
// entered although it cannot be said which buffer that is.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_EDGEDEATHS_H
#define DRAGON_PASSES_PLACEMENT_EDGEDEATHS_H

#include "passes/placement/Directive.h"
#include "passes/placement/Liveness.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace dragon {

struct EdgeDeath {
  /// The entry of the block, or with selects: in front of the event.
  EventRef At;
  bool AtEntry = true;
  /// The name of what is dead, whatever the edge.
  std::optional<NameId> Name;
  /// Else: what is dead on which edge.
  std::vector<DeadOnEdge> Edges;
  /// Edges are those of this pointer, a select; or -1.
  int Select = -1;
};

/// MayEnd: whether a discard is of use, and allowed, of that name there.
std::vector<EdgeDeath>
edgeDeaths(const BufferProgram &Program, const FlowGraph &Graph,
           const PointerFlow &Pointers, const Liveness &Live,
           llvm::function_ref<bool(NameId, EventRef)> MayEnd);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_EDGEDEATHS_H
