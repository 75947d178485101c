//===- StagingElision.cpp - staging calls in place of file calls ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/StagingElision.h"

#include "passes/lifetime/CallEffects.h"
#include "passes/rewrite/EntryPoints.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

Value *bufferBytes(const BuiltProgram &Built, unsigned Buffer,
                   Instruction &Point) {
  CallBase *Call = Built.Sites[Buffer].Call;
  const CallEffect *Effect = callEffect(*Call);
  IRBuilder<> Builder(&Point);
  Value *Bytes = Builder.CreateZExtOrTrunc(Call->getArgOperand(Effect->Bytes),
                                           Builder.getInt64Ty());
  if (Effect->Count >= 0)
    Bytes = Builder.CreateMul(Bytes, Call->getArgOperand(Effect->Count));
  return Bytes;
}

void elideStaging(BuiltProgram &Built, const Placement &Decisions,
                  const DominatorTree &Dominators) {
  // A call may be an event of several elided buffers.
  SetVector<CallBase *> Transfers;
  MapVector<CallBase *, Value *> Frees;
  for (const Directive &D : Decisions.Directives) {
    if (D.Kind != DirectiveKind::Elide)
      continue;
    for (EventRef At : Built.Program.uses(D.Buffer)) {
      auto *Call = dyn_cast<CallBase>(Built.Instructions[At.Block][At.Index]);
      const Event &E = Built.Program.event(At);
      switch (E.Kind) {
      case EventKind::FileRead:
      case EventKind::FileWrite:
      case EventKind::CopyIn:
      case EventKind::CopyOut:
        Transfers.insert(Call);
        break;
      case EventKind::Free:
        // What is freed may be another buffer, of another size.
        if (E.find(D.Buffer)->Must &&
            Dominators.dominates(Built.Sites[D.Buffer].Pointer, Call))
          Frees[Call] = bufferBytes(Built, D.Buffer, *Call);
        else
          Frees[Call] = ConstantInt::get(Type::getInt64Ty(Call->getContext()),
                                         -1ull, true);
        break;
      default:
        break;
      }
    }
  }
  for (auto [Free, Bytes] : Frees)
    callEntry("__dragon_stage_forget",
              {Free->getArgOperand(callEffect(*Free)->Pointer), Bytes}, *Free);
  for (CallBase *Call : Transfers) {
    Function *Callee = Call->getCalledFunction();
    FunctionCallee Twin = Call->getModule()->getOrInsertFunction(
        stagingTwin(Callee->getName()), Callee->getFunctionType());
    SmallVector<Value *, 5> Args(Call->args());
    replaceCall(*Call, Twin, Args);
  }
}

} // namespace dragon
