//===- RemovedInstructions.cpp - what GPUs no longer have -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/RemovedInstructions.h"

#include "passes/support/UnitSuffix.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstrTypes.h"
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
  // Those of eight bytes are two.
  std::set<std::pair<const DILocation *, StringRef>> Told;
  for (Function &Intrinsic : M) {
    StringRef Name = sourceName(Intrinsic);
    if (Name.empty())
      continue;
    for (User *U : Intrinsic.users()) {
      auto *Call = dyn_cast<CallBase>(U);
      if (!Call)
        continue;
      const DILocation *At = callOf(Name, Call->getDebugLoc());
      if (At && !Told.insert({At, Name}).second)
        continue;
      Function &F = *Call->getFunction();
      M.getContext().diagnose(DiagnosticInfoUnsupported(
          F,
          "'" + Name + "' in '" + demangle(withoutUnitSuffix(F.getName())) +
              "': GPUs since sm_70 do not have it; use '" + Name +
              "_sync', which says what threads take part",
          DebugLoc(At)));
    }
  }
  return PreservedAnalyses::all();
}

} // namespace dragon
