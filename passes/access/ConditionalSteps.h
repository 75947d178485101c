//===- ConditionalSteps.h - steps of a loop under a condition ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that has nothing to do in a loop often does not step on either:
//
//   for (k = 0; k < nz; ++k)
//     if (active) { out[i] = ...; i += plane; }
//
// Where the condition is the same in all iterations, that is a step of the
// loop, by (active ? plane : 0), and i is start + k * step. Where `active` is
// known, the choice is made (Choices.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_CONDITIONALSTEPS_H
#define DRAGON_PASSES_ACCESS_CONDITIONALSTEPS_H

namespace llvm {
class DominatorTree;
class LoopInfo;
} // namespace llvm

namespace dragon {

/// Makes such steps unconditional ones of loops in simplified form.
void makeStepsUnconditional(llvm::LoopInfo &LI, llvm::DominatorTree &DT);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_CONDITIONALSTEPS_H
