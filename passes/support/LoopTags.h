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
// simplification; those of the module have them for a time:
//
//   br label %for.cond, !llvm.loop !7     !7 = distinct !{!7, !8}
//                                         !8 = !{!"dragon.loop", i32 4}
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_LOOPTAGS_H
#define DRAGON_PASSES_SUPPORT_LOOPTAGS_H

#include "llvm/IR/ValueHandle.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace llvm {
class Function;
class Loop;
class LoopInfo;
class MDNode;
class Module;
} // namespace llvm

namespace dragon {

/// A loop of a kernel, and the number of the Loop node that counts its
/// iterations in the kernel's summary.
struct TaggedLoop {
  uint32_t Tag;
  uint32_t Number;
  /// It is several loops of the kernel, which could not be told apart
  /// (SeparateLoops.h).
  bool IsSeveral = false;
};

/// Gives all loops of M their numbers.
void tagLoops(llvm::Module &M);

void tag(llvm::Loop &L, uint32_t Tag);

/// Numbers: [Next, End).
struct TagRange {
  uint32_t Next, End;
};

/// Those of `Kernel` that no loop of `Code` has, which is it or its copy.
TagRange freeTags(llvm::Function &Code, const llvm::Function &Kernel);

/// The loop's number; none: it has no tag.
std::optional<uint32_t> tagOf(const llvm::Loop &L);

/// All loops of M have their numbers as long as this lives, and then what they
/// had before. Meanwhile no function comes in front of another.
class TaggedLoops {
public:
  explicit TaggedLoops(llvm::Module &M);
  ~TaggedLoops();
  TaggedLoops(const TaggedLoops &) = delete;
  TaggedLoops &operator=(const TaggedLoops &) = delete;

private:
  /// Of what ends a latch.
  std::vector<std::pair<llvm::WeakTrackingVH, llvm::MDNode *>> Before;
};

/// The loop that has the number; null: none has it. `LI`: a function's.
llvm::Loop *loopOfTag(llvm::LoopInfo &LI, uint32_t Tag);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_LOOPTAGS_H
