//===- LoopTags.h - loops that are found again in a copy --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the access analysis says of a loop it says of a loop in its simplified
// copy of the module. To change the loop as it was written, one must find it
// again. So the loops of a module are numbered in an order that depends on the
// code alone, and those of the copy get their numbers as a property of their
// metadata (LangRef, "llvm.loop"), which stays through inlining and
// simplification:
//
//   br label %for.cond, !llvm.loop !7     !7 = distinct !{!7, !8}
//                                         !8 = !{!"dragon.loop", i32 4}
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_LOOPTAGS_H
#define DRAGON_PASSES_SUPPORT_LOOPTAGS_H

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
class Loop;
class LoopInfo;
class Module;
} // namespace llvm

namespace dragon {

/// A loop of a kernel, and the number of the Loop node that counts its
/// iterations in the kernel's summary.
struct TaggedLoop {
  uint32_t Tag;
  uint32_t Number;
};

/// Gives all loops of M their numbers.
void tagLoops(llvm::Module &M);

/// The loop's number; none: it has no tag.
std::optional<uint32_t> tagOf(const llvm::Loop &L);

/// The loop of F that has, or in a copy of the module would have, the number;
/// null: it is none of F's. `LI`: F's.
llvm::Loop *loopOfTag(llvm::Function &F, llvm::LoopInfo &LI, uint32_t Tag);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_LOOPTAGS_H
