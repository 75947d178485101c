//===- Unsupported.cpp - what cannot run on the host ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Unsupported.h"

#include "passes/Remarks.h"
#include "passes/cpu/RuntimeFunctions.h"
#include "passes/support/UnitSuffix.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace dragon {

static constexpr StringRef PlaceholderName = "dragon.unsupported";

bool Unsupported::isPlaceholder(const Function &F) {
  return F.getName() == PlaceholderName;
}

/// Clang's cookie for the place of inline assembly in the source; 0 = none.
static uint64_t sourceCookie(const Instruction &I) {
  MDNode *Node = I.getMetadata("srcloc");
  if (!Node || Node->getNumOperands() == 0)
    return 0;
  auto *Cookie = mdconst::dyn_extract<ConstantInt>(Node->getOperand(0));
  return Cookie ? Cookie->getZExtValue() : 0;
}

void Unsupported::replace(Instruction &I, const Twine &What) {
  Function &F = *I.getFunction();
  std::string Message =
      What.str() + " in '" + demangle(withoutUnitSuffix(F.getName())) + "'";
  if (const DebugLoc &Loc = I.getDebugLoc())
    Message +=
        (" (" + Loc->getFilename() + ":" + Twine(Loc.getLine()) + ")").str();

  // What is in a copy of a kernel is in the kernel as well, and told there.
  const bool InCopy = F.getName().starts_with("__dragon_");
  LLVMContext &C = M.getContext();
  if (How != UnsupportedAs::Remark && !InCopy) {
    auto Severity = How == UnsupportedAs::Error ? DS_Error : DS_Warning;
    std::string Text = What.str() + " in '" +
                       demangle(withoutUnitSuffix(F.getName())) +
                       "' cannot run on the host processor; " +
                       (How == UnsupportedAs::Error
                            ? "build for the GPU alone with "
                              "--dragon-targets=cuda"
                            : "without a GPU, reaching it ends the program");
    if (uint64_t Cookie = sourceCookie(I))
      C.diagnose(DiagnosticInfoInlineAsm(Cookie, Text, Severity));
    else
      C.diagnose(DiagnosticInfoUnsupported(F, Text, I.getDebugLoc(), Severity));
  }
  // For the record as well, whatever the user is told by default.
  if (How != UnsupportedAs::Error && !InCopy) {
    OptimizationRemarkEmitter Emitter(&F);
    emitRemark(Emitter,
               Reason(RemarkId::NotOnCpu)
                   .with("Construct", What.str())
                   .with("Function", demangle(withoutUnitSuffix(F.getName()))),
               I.getDebugLoc(), I.getParent());
  }

  IRBuilder<> B(&I);
  auto *Type = FunctionType::get(B.getVoidTy(), {B.getPtrTy()}, false);
  FunctionCallee Callee = M.getOrInsertFunction(PlaceholderName, Type);
  CallInst *Call = B.CreateCall(Callee, {B.CreateGlobalString(Message)});
  Call->setDoesNotReturn();
  Call->setDoesNotThrow();
  changeToUnreachable(&I);
}

void Unsupported::lowerPlaceholders(
    function_ref<Value *(Function &)> ContextOf) {
  Function *Placeholder = M.getFunction(PlaceholderName);
  if (!Placeholder)
    return;
  for (User *U : make_early_inc_range(Placeholder->users())) {
    auto *Call = cast<CallInst>(U);
    IRBuilder<> B(Call);
    Value *Context = ContextOf(*Call->getFunction());
    if (!Context)
      Context =
          B.CreateCall(runtimeFunction(M, RuntimeFunction::dragon_cpu_current));
    B.CreateCall(runtimeFunction(M, RuntimeFunction::dragon_cpu_unsupported),
                 {Context, Call->getArgOperand(0)});
    Call->eraseFromParent();
  }
  Placeholder->eraseFromParent();
}

} // namespace dragon
