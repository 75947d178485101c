//===- BehindLoops.h - positions that loops leave behind --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is behind a loop may go on with the position that the loop has counted,
// as the rest of a loop that was unrolled by hand:
//
//   for (; i + 3 * step < n; i += 4 * step) ..   // iteration k
//   for (; i < n; i += step) .. x[i] ..          // from the last k + 1 on
//
// There the last iteration is a variable of its own, so that a cut along the
// loop, which leaves only some of its numbers, says nothing of what is behind
// it. The loop's condition held in it, and not with one more. Or there was no
// iteration: so an access becomes two.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_BEHINDLOOPS_H
#define DRAGON_PASSES_ACCESS_BEHINDLOOPS_H

#include "passes/access/AccessRecorder.h"

#include <map>
#include <utility>

namespace dragon {

class BehindLoops {
public:
  BehindLoops(AccessRecorder &Found, llvm::DominatorTree &DT,
              llvm::LoopInfo &LI)
      : Found(Found), DT(DT), LI(LI) {}

  /// In all accesses.
  void renumber();

private:
  /// A loop whose counter is replaced.
  struct Left {
    const llvm::Loop &L;
    uint32_t Number;
    uint32_t Last; ///< the node for its last iteration
    /// Nodes with another one in place of the counter, by that and the node.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> Replaced = {};
  };

  /// A, if the loop had so many iterations.
  FoundAccess behind(const FoundAccess &A, Left &Loop, uint32_t Count);
  /// That the loop's test says that it goes on, or does not, in iteration `At`.
  void addTest(FoundAccess &A, Left &Loop, bool GoesOn, uint32_t At);
  uint32_t replaced(uint32_t Node, Left &Loop, uint32_t By);

  AccessRecorder &Found;
  llvm::DominatorTree &DT;
  llvm::LoopInfo &LI;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_BEHINDLOOPS_H
