//===- SeparateLoops.cpp - loops of functions called twice ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/SeparateLoops.h"

#include "passes/support/LoopTags.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// Kernels that would become larger stay as they are.
constexpr uint64_t MostInstructions = 16384;

Function *calleeOf(Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && !Callee->isDeclaration() &&
                 Callee->getFunctionType() == Call->getFunctionType()
             ? Callee
             : nullptr;
}

/// What a function leads to, by calls.
class CallsFrom {
public:
  explicit CallsFrom(Function &Root) { count(Root, 1); }

  /// A function with a loop to which several ways lead is what F is, or calls.
  bool leadsToSharedLoop(Function &F) {
    const auto [Known, IsNew] = Leads.try_emplace(&F, false);
    if (!IsNew)
      return Known->second;
    const bool Is =
        !isRecursive(F) && ((Ways.lookup(&F) > 1 && hasLoop(F)) ||
                            any_of(instructions(F), [this](Instruction &I) {
                              Function *Callee = calleeOf(I);
                              return Callee && leadsToSharedLoop(*Callee);
                            }));
    return Leads[&F] = Is;
  }

  /// Instructions of F, with those of the calls that lead to such loops.
  uint64_t sizeOf(Function &F) {
    const auto [Known, IsNew] = Sizes.try_emplace(&F, 0);
    if (!IsNew)
      return Known->second;
    uint64_t Size = F.getInstructionCount();
    for (Instruction &I : instructions(F))
      if (Function *Callee = calleeOf(I); Callee && leadsToSharedLoop(*Callee))
        Size = SaturatingAdd(Size, sizeOf(*Callee));
    return Sizes[&F] = Size;
  }

private:
  /// So many more ways lead to what F calls; of functions that call themselves,
  /// the first is enough.
  void count(Function &F, unsigned More) {
    Within.insert(&F);
    for (Instruction &I : instructions(F))
      if (Function *Callee = calleeOf(I)) {
        if (Within.contains(Callee)) {
          Recursive.insert(Callee);
          continue;
        }
        unsigned &Of = Ways[Callee];
        // Two are as good as more.
        const unsigned Before = Of;
        Of = std::min(2u, Of + More);
        if (Of != Before)
          count(*Callee, Of - Before);
      }
    Within.erase(&F);
  }
  bool isRecursive(Function &F) const { return Recursive.contains(&F); }
  static bool hasLoop(Function &F) {
    DominatorTree DT(F);
    return !LoopInfo(DT).empty();
  }

  SmallPtrSet<Function *, 8> Within, Recursive;
  DenseMap<Function *, unsigned> Ways;
  DenseMap<Function *, bool> Leads;
  DenseMap<Function *, uint64_t> Sizes;
};

CallBase *nextCall(Function &F) {
  CallsFrom Calls(F);
  for (Instruction &I : instructions(F))
    if (Function *Callee = calleeOf(I);
        Callee && Calls.leadsToSharedLoop(*Callee))
      return Calls.sizeOf(F) <= MostInstructions ? cast<CallBase>(&I) : nullptr;
  return nullptr;
}

} // namespace

bool hasLoopsToSeparate(Function &Kernel) {
  return nextCall(Kernel) != nullptr;
}

void separateLoops(Function &Code, const Function &Kernel) {
  std::optional<TagRange> Free;
  while (CallBase *Call = nextCall(Code)) {
    if (!Free)
      Free = freeTags(Code, Kernel);
    SmallPtrSet<BasicBlock *, 32> Before;
    for (BasicBlock &Block : Code)
      Before.insert(&Block);
    InlineFunctionInfo Info;
    if (!InlineFunction(*Call, Info).isSuccess())
      return;
    DominatorTree DT(Code);
    LoopInfo LI(DT);
    for (Loop *L : LI.getLoopsInPreorder())
      if (!Before.contains(L->getHeader()) && Free->Next < Free->End)
        tag(*L, Free->Next++);
  }
}

} // namespace dragon
