//===- Liveness.h - whose contents are still needed ----------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classic backward dataflow on a buffer program. A buffer is live where some
// path reads its contents before they are surely overwritten as a whole, or
// freed. Elided staging buffers are views: what is read through them is read
// from the device buffers that were copied to them, so these stay live until
// the staging buffer's last use, or until they end or are overwritten, for
// which the runtime fills the staging buffer:
//
//   copy-out h d     # moves nothing yet
//   file-write h f   # reads d
//   free d           # d is dead from here on
//
//   copy-out h d
//   free d           # reads d
//   file-write h f
//
// What is read by a pointer to one of several buffers is live by that name, as
// far back as there is one, and then by those that it has on each edge:
//
//   block end
//   pointer p a from one, b from two   # b is dead behind `one`
//   copy-out h p
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_LIVENESS_H
#define DRAGON_PASSES_PLACEMENT_LIVENESS_H

#include "passes/placement/FlowGraph.h"
#include "passes/placement/PointerFlow.h"

#include "llvm/ADT/BitVector.h"

namespace dragon {

/// Sets are of names: the buffers come first. A name is in it if what it is, or
/// may be, is live.
class Liveness {
public:
  /// Pointers: or null, then what may be a buffer's address is taken for it.
  /// Elided: by buffer.
  /// AssumeTests: what could be tested at run time is taken to have passed.
  Liveness(const BufferProgram &Program, const FlowGraph &Graph,
           const PointerFlow *Pointers, const std::vector<bool> &Elided,
           bool AssumeTests = false);
  llvm::BitVector liveIn(unsigned Block) const;
  llvm::BitVector liveOut(unsigned Block) const;
  /// One more than the block has events: in front of each (and of the selects
  /// that are made there), and at the end.
  std::vector<llvm::BitVector> liveWithin(unsigned Block) const;

  /// At the end of From if it goes on to To.
  llvm::BitVector liveOnEdge(unsigned From, unsigned To) const;
  /// In front of the event, if the selects' condition is as given.
  llvm::BitVector liveIf(EventRef At, int Condition, bool Given) const;
  /// In front of the event, when the selects there are made.
  llvm::BitVector liveBehindSelects(EventRef At) const;
  /// The names by which reads to come go, and no others that may be the same.
  std::vector<llvm::BitVector> namesWithin(unsigned Block) const;

private:
  // What is read, as if nothing were elided.
  void transfer(const Event &E, llvm::BitVector &Live) const;
  std::vector<llvm::BitVector> readsWithin(unsigned Block) const;
  llvm::BitVector readsBehindSelects(EventRef At) const;

  /// With what live staging buffers may stand for.
  llvm::BitVector withViewed(llvm::BitVector Names, EventRef At) const;
  llvm::BitVector all(const llvm::BitVector &Names, EventRef At) const;
  EventRef endOf(unsigned Block) const;

  const BufferProgram &Program;
  const FlowGraph &Graph;
  const PointerFlow *Pointers;
  const bool AssumeTests;
  /// Elided staging buffers, and copies to them.
  std::vector<std::pair<unsigned, EventRef>> Views;
  std::vector<llvm::BitVector> In, Out;
};

/// Forward: what is surely allocated, and what may have contents that have not
/// been discarded.
class Contents {
public:
  /// Discards: pairs of a buffer and the event after which (index + 1) or the
  /// block at whose entry (index 0) its contents end.
  struct End {
    unsigned Buffer;
    EventRef At; ///< takes effect in front of this event
  };
  Contents(const BufferProgram &Program, const FlowGraph &Graph,
           llvm::ArrayRef<End> Ends = {});
  /// In front of the event (or at the end of the block).
  bool mustBeAllocated(unsigned Buffer, EventRef At) const;
  bool mayHold(unsigned Buffer, EventRef At) const;

private:
  struct State {
    llvm::BitVector Allocated, Holds;
  };
  void transfer(EventRef At, State &S) const;
  State stateAt(EventRef At) const;

  const BufferProgram &Program;
  std::vector<End> Ends;
  std::vector<State> In;
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_LIVENESS_H
