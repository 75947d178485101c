//===- RemovedInstructions.cpp - what GPUs no longer have -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/RemovedInstructions.h"

#include "passes/support/UnitSuffix.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

#include <set>

using namespace llvm;

namespace dragon {

namespace {

/// What the user calls it, or "".
StringRef sourceName(const Function &Intrinsic) {
  StringRef Name = Intrinsic.getName();
  if (!Name.consume_front("llvm.nvvm."))
    return "";
  return StringSwitch<StringRef>(Name)
      .StartsWith("shfl.idx.", "__shfl")
      .StartsWith("shfl.up.", "__shfl_up")
      .StartsWith("shfl.down.", "__shfl_down")
      .StartsWith("shfl.bfly.", "__shfl_xor")
      .Cases({"vote.all", "vote.uni"}, "__all")
      .Case("vote.any", "__any")
      .Case("vote.ballot", "__ballot")
      .Default("");
}

/// The same with a mask in front of its arguments.
Intrinsic::ID withMask(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::nvvm_shfl_idx_i32:
    return Intrinsic::nvvm_shfl_sync_idx_i32;
  case Intrinsic::nvvm_shfl_idx_f32:
    return Intrinsic::nvvm_shfl_sync_idx_f32;
  case Intrinsic::nvvm_shfl_up_i32:
    return Intrinsic::nvvm_shfl_sync_up_i32;
  case Intrinsic::nvvm_shfl_up_f32:
    return Intrinsic::nvvm_shfl_sync_up_f32;
  case Intrinsic::nvvm_shfl_down_i32:
    return Intrinsic::nvvm_shfl_sync_down_i32;
  case Intrinsic::nvvm_shfl_down_f32:
    return Intrinsic::nvvm_shfl_sync_down_f32;
  case Intrinsic::nvvm_shfl_bfly_i32:
    return Intrinsic::nvvm_shfl_sync_bfly_i32;
  case Intrinsic::nvvm_shfl_bfly_f32:
    return Intrinsic::nvvm_shfl_sync_bfly_f32;
  case Intrinsic::nvvm_vote_all:
    return Intrinsic::nvvm_vote_all_sync;
  case Intrinsic::nvvm_vote_uni:
    return Intrinsic::nvvm_vote_uni_sync;
  case Intrinsic::nvvm_vote_any:
    return Intrinsic::nvvm_vote_any_sync;
  case Intrinsic::nvvm_vote_ballot:
    return Intrinsic::nvvm_vote_ballot_sync;
  default:
    return Intrinsic::not_intrinsic;
  }
}

/// Where the function of that name was called, if it has been inlined.
const DILocation *callOf(StringRef Name, const DILocation *At) {
  while (At && At->getInlinedAt() &&
         At->getScope()->getSubprogram()->getName() == Name)
    At = At->getInlinedAt();
  return At;
}

} // namespace

PreservedAnalyses RemovedInstructionsPass::run(Module &M,
                                               ModuleAnalysisManager &) {
  if (!Triple(M.getTargetTriple()).isNVPTX())
    return PreservedAnalyses::all();
  bool Changed = false;
  // Those of eight bytes are two.
  std::set<std::pair<const DILocation *, StringRef>> Told;
  for (Function &Removed : make_early_inc_range(M)) {
    StringRef Name = sourceName(Removed);
    Intrinsic::ID Now = withMask(Removed.getIntrinsicID());
    if (Name.empty())
      continue;
    for (User *U : make_early_inc_range(Removed.users())) {
      auto *Call = dyn_cast<CallInst>(U);
      if (!Call)
        continue;
      Function &F = *Call->getFunction();
      const DILocation *At = callOf(Name, Call->getDebugLoc());
      std::string What =
          ("'" + Name + "' in '" + demangle(withoutUnitSuffix(F.getName())) +
           "': GPUs since sm_70 do not have it; ")
              .str();
      // The forms with a second result have no function.
      if (Now == Intrinsic::not_intrinsic) {
        M.getContext().diagnose(DiagnosticInfoUnsupported(
            F,
            What + "use '" + Name + "_sync', which says what threads take part",
            DebugLoc(At)));
        continue;
      }
      if (!At || Told.insert({At, Name}).second)
        M.getContext().diagnose(DiagnosticInfoUnsupported(
            F,
            What + "here it is '" + Name +
                "_sync' among the threads that are active",
            DebugLoc(At), DS_Warning));
      IRBuilder<> B(Call);
      SmallVector<Value *, 4> Args = {
          B.CreateIntrinsic(Intrinsic::nvvm_activemask, {})};
      append_range(Args, Call->args());
      Call->replaceAllUsesWith(B.CreateIntrinsic(Now, Args));
      Call->eraseFromParent();
      Changed = true;
    }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace dragon
