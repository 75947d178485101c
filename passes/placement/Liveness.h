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
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_LIVENESS_H
#define DRAGON_PASSES_PLACEMENT_LIVENESS_H

#include "passes/placement/BufferProgram.h"

#include "llvm/ADT/BitVector.h"

namespace dragon {

/// For each buffer the device buffers that its contents may stand for. Empty
/// for all but elided staging buffers.
using DeferredSources = std::vector<llvm::SmallVector<unsigned, 2>>;

class Liveness {
public:
  /// AssumeTests: what could be tested at run time is taken to have passed.
  Liveness(const BufferProgram &Program, const FlowGraph &Graph,
           const DeferredSources &Deferred, bool AssumeTests = false);
  const llvm::BitVector &liveIn(unsigned Block) const { return In[Block]; }
  const llvm::BitVector &liveOut(unsigned Block) const { return Out[Block]; }
  /// One more than the block has events: in front of each, and at the end.
  std::vector<llvm::BitVector> liveWithin(unsigned Block) const;

private:
  void transfer(const Event &E, llvm::BitVector &Live) const;

  const BufferProgram &Program;
  const DeferredSources &Deferred;
  const bool AssumeTests;
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
