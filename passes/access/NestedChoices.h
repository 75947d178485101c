//===- NestedChoices.h - choices among several values -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   if (byRow)            to = a;
//   else if (byColumn)    to = b;
//   else                  to = c;
//
// LLVM has one place where the three values meet, which is no choice by one
// condition (Choices.h). Here b and c meet first, by the second condition, and
// then a and what they gave by the first.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_NESTEDCHOICES_H
#define DRAGON_PASSES_ACCESS_NESTEDCHOICES_H

namespace llvm {
class DominatorTree;
class Function;
class LoopInfo;
} // namespace llvm

namespace dragon {

/// Of a function in loop-simplified form, which stays so.
void nestChoices(llvm::Function &F, llvm::LoopInfo &LI,
                 llvm::DominatorTree &DT);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_NESTEDCHOICES_H
