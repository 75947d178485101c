//===- InvariantLoads.cpp - loads that no store of a kernel reaches -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/InvariantLoads.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

using Arguments = SmallPtrSet<const Argument *, 8>;

/// The arguments that the kernel writes through, if these are all that it
/// writes but for its own variables, and none may lead to what others lead to.
/// What waits for other threads may be told of their writes.
std::optional<Arguments> writtenThrough(const Function &F) {
  Arguments Written;
  for (const Instruction &I : instructions(F)) {
    if (!I.mayWriteToMemory())
      continue;
    const Value *To = nullptr;
    if (const auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isSimple())
      To = Store->getPointerOperand();
    else if (const auto *Call = dyn_cast<IntrinsicInst>(&I);
             Call && Call->isAssumeLikeIntrinsic())
      continue;
    else
      return std::nullopt;
    const Value *Object = getUnderlyingObject(To);
    if (isa<AllocaInst>(Object))
      continue;
    const auto *Through = dyn_cast<Argument>(Object);
    if (!Through || !Through->hasNoAliasAttr())
      return std::nullopt;
    Written.insert(Through);
  }
  return Written;
}

} // namespace

PreservedAnalyses InvariantLoadsPass::run(Function &F,
                                          FunctionAnalysisManager &) {
  if (!F.getParent()->getTargetTriple().isNVPTX() ||
      F.getCallingConv() != CallingConv::PTX_Kernel)
    return PreservedAnalyses::all();
  const std::optional<Arguments> Written = writtenThrough(F);
  if (!Written || Written->empty())
    return PreservedAnalyses::all();
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple()) {
      const auto *From =
          dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand()));
      if (From && !From->hasByValAttr() && !Written->contains(From))
        Load->setMetadata(LLVMContext::MD_invariant_load,
                          MDNode::get(F.getContext(), {}));
    }
  return PreservedAnalyses::all();
}

} // namespace dragon
