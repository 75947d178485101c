//===- Cursors.h - buffers that loops walk through ------------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signal is filtered window by window, a result copied out part by part: the
// buffer stays in use, but what lies behind is never looked at again.
//
//   block body
//     copy-in signal h part
//     launch filter read(signal@at)     # from the cursor `at` upwards
//   -> body, done                       # `at` moves up
//
// After the launch all below the place where `at` is in the next iteration is
// dead, unless something else reads the buffer before it ends or is
// overwritten. For that, two facts on each point of the loop are computed
// backwards: whether some path from there reads bytes below the cursor as it
// is, and below the cursor as it will be in the next iteration. A read from the
// cursor upwards reads the latter, but not the former; from the loop's end to
// its beginning "as it will be" becomes "as it is". At the loop's exits both
// are what ordinary liveness says there: it includes that the loop may be
// entered anew.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_CURSORS_H
#define DRAGON_PASSES_PLACEMENT_CURSORS_H

#include "passes/placement/FlowGraph.h"
#include "passes/placement/Liveness.h"

namespace dragon {

/// What some path may still read of a cursor's buffer.
class CursorLiveness {
public:
  CursorLiveness(const BufferProgram &Program, const FlowGraph &Graph,
                 const Liveness &Live, unsigned Cursor);
  bool inLoop(unsigned Block) const { return Inside[Block]; }
  /// In front of the event, or at the end of the block, which is in the loop:
  /// what is below the place where the cursor is in the next iteration.
  bool mayReadBehind(EventRef At) const;

private:
  struct State {
    bool Below = false;     ///< the cursor as it is
    bool BelowNext = false; ///< as it will be in the next iteration
  };
  State endOf(unsigned Block) const;
  void transfer(const Event &E, State &S) const;
  State stateAt(EventRef At) const;

  const BufferProgram &Program;
  const Liveness &Live;
  const unsigned Cursor;
  const unsigned Buffer;
  llvm::BitVector Inside;
  std::vector<State> In;
};

/// The buffer is dead behind the cursor's next place after the event, the last
/// that needs it, if none of the Tests reads anything below its pointer.
struct CursorEnd {
  unsigned Cursor;
  EventRef At;
  std::vector<EventRef> Tests;
};
std::vector<CursorEnd> endsBehindCursors(const BufferProgram &Program,
                                         const FlowGraph &Graph,
                                         const Liveness &Live);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_CURSORS_H
