//===- StagingElision.cpp - staging calls in place of file calls ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/StagingElision.h"

#include "passes/lifetime/CallEffects.h"
#include "passes/rewrite/EntryPoints.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

void elideStaging(BuiltProgram &Built, const Placement &Decisions) {
  // A call may be an event of several elided buffers.
  SetVector<CallBase *> Transfers, Frees;
  for (const Directive &D : Decisions.Directives) {
    if (D.Kind != DirectiveKind::Elide)
      continue;
    for (EventRef At : Built.Program.uses(D.Buffer)) {
      auto *Call = dyn_cast<CallBase>(Built.Instructions[At.Block][At.Index]);
      switch (Built.Program.event(At).Kind) {
      case EventKind::FileRead:
      case EventKind::FileWrite:
      case EventKind::CopyIn:
      case EventKind::CopyOut:
        Transfers.insert(Call);
        break;
      case EventKind::Free:
        Frees.insert(Call);
        break;
      default:
        break;
      }
    }
  }
  for (CallBase *Free : Frees) {
    const CallEffect *Effect = callEffect(*Free);
    Value *ToTheEnd =
        ConstantInt::get(Type::getInt64Ty(Free->getContext()), -1ull, true);
    callEntry("__dragon_stage_forget",
              {Free->getArgOperand(Effect->Pointer), ToTheEnd}, *Free);
  }
  for (CallBase *Call : Transfers) {
    Function *Callee = Call->getCalledFunction();
    FunctionCallee Twin = Call->getModule()->getOrInsertFunction(
        stagingTwin(Callee->getName()), Callee->getFunctionType());
    SmallVector<Value *, 5> Args(Call->args());
    replaceCall(*Call, Twin, Args);
  }
}

} // namespace dragon
