//===- ExtraParameters.cpp - functions with hidden parameters -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/ExtraParameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace dragon {

SmallPtrSet<Function *, 16>
functionsThatNeed(Module &M, function_ref<bool(Instruction &)> Needs) {
  SmallPtrSet<Function *, 16> Result;
  SmallVector<Function *, 16> Worklist;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (Needs(I)) {
        Result.insert(&F);
        Worklist.push_back(&F);
        break;
      }
  while (!Worklist.empty()) {
    Function *F = Worklist.pop_back_val();
    for (Use &U : F->uses())
      if (auto *Call = dyn_cast<CallBase>(U.getUser());
          Call && Call->isCallee(&U) &&
          Result.insert(Call->getFunction()).second)
        Worklist.push_back(Call->getFunction());
  }
  return Result;
}

SetVector<Function *> reachableFunctions(Function &F,
                                         bool *MakesIndirectCalls) {
  if (MakesIndirectCalls)
    *MakesIndirectCalls = false;
  SetVector<Function *> Result;
  Result.insert(&F);
  for (unsigned I = 0; I < Result.size(); ++I)
    for (Instruction &Inst : instructions(*Result[I])) {
      auto *Call = dyn_cast<CallBase>(&Inst);
      if (!Call || Call->isInlineAsm())
        continue;
      Function *Callee = Call->getCalledFunction();
      if (!Callee) {
        if (MakesIndirectCalls)
          *MakesIndirectCalls = true;
      } else if (!Callee->isDeclaration()) {
        Result.insert(Callee);
      }
    }
  return Result;
}

bool addressIsTaken(const Function &F) {
  return F.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false,
                           /*IgnoreAssumeLikeCalls=*/true,
                           /*IngoreLLVMUsed=*/true,
                           /*IgnoreARCAttachedCall=*/true,
                           /*IgnoreCastedDirectCall=*/false);
}

Function *moveBody(Function &F, FunctionType *Type) {
  Function *New = Function::Create(Type, F.getLinkage(), 0, "", F.getParent());
  New->copyAttributesFrom(&F);
  New->splice(New->begin(), &F);
  for (auto [Old, Now] : zip_first(F.args(), New->args())) {
    Now.takeName(&Old);
    Old.replaceAllUsesWith(&Now);
  }
  New->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  New->takeName(&F);
  return New;
}

Function *cloneWithExtraParameters(Function &F, ArrayRef<Type *> Extra,
                                   ArrayRef<StringRef> Names, const Twine &Name,
                                   ValueToValueMapTy *Into) {
  assert(!F.isVarArg() && "device functions take no variable arguments");
  SmallVector<Type *, 16> Types(F.getFunctionType()->params());
  Types.append(Extra.begin(), Extra.end());
  auto *NewType = FunctionType::get(F.getReturnType(), Types, false);
  Function *New = Function::Create(NewType, F.getLinkage(), F.getAddressSpace(),
                                   Name, F.getParent());
  ValueToValueMapTy Own;
  ValueToValueMapTy &Map = Into ? *Into : Own;
  auto NewArg = New->arg_begin();
  for (Argument &Old : F.args()) {
    NewArg->setName(Old.getName());
    Map[&Old] = &*NewArg++;
  }
  for (StringRef ExtraName : Names)
    (NewArg++)->setName(ExtraName);
  SmallVector<ReturnInst *, 8> Returns;
  CloneFunctionInto(New, &F, Map, CloneFunctionChangeType::LocalChangesOnly,
                    Returns);
  if (DISubprogram *Subprogram = New->getSubprogram();
      Subprogram && !Subprogram->getLinkageName().empty())
    Subprogram->replaceLinkageName(
        MDString::get(F.getContext(), New->getName()));
  if (F.hasComdat()) {
    Comdat *Group = F.getParent()->getOrInsertComdat(New->getName());
    Group->setSelectionKind(F.getComdat()->getSelectionKind());
    New->setComdat(Group);
  }
  return New;
}

unsigned instructionsOf(Function &Kernel) {
  unsigned Sum = 0;
  for (const Function *F : reachableFunctions(Kernel))
    Sum += F->getInstructionCount();
  return Sum;
}

void keepCopyOfKernel(Function &Kernel, Function &Copy) {
  Module &M = *Kernel.getParent();
  for (StringRef List : {"llvm.used", "llvm.compiler.used"}) {
    SmallVector<GlobalValue *, 8> Used;
    collectUsedGlobalVariables(M, Used, List == "llvm.compiler.used");
    if (is_contained(Used, &Kernel)) {
      if (List == "llvm.used")
        appendToUsed(M, &Copy);
      else
        appendToCompilerUsed(M, &Copy);
    }
  }
  // Kernels of older modules are marked by metadata.
  if (NamedMDNode *Annotations = M.getNamedMetadata("nvvm.annotations")) {
    SmallVector<MDNode *, 4> Added;
    for (MDNode *Node : Annotations->operands()) {
      auto *Of = mdconst::dyn_extract_or_null<Function>(Node->getOperand(0));
      if (Of != &Kernel)
        continue;
      SmallVector<Metadata *, 8> Operands(Node->operands());
      Operands[0] = ConstantAsMetadata::get(&Copy);
      Added.push_back(MDNode::get(M.getContext(), Operands));
    }
    for (MDNode *Node : Added)
      Annotations->addOperand(Node);
  }
}

bool hasRoomFor(const Function &Kernel, uint64_t Bytes) {
  const DataLayout &DL = Kernel.getParent()->getDataLayout();
  for (const Argument &A : Kernel.args())
    Bytes += DL.getTypeAllocSize(A.hasByValAttr() ? A.getParamByValType()
                                                  : A.getType());
  return Bytes <= MaxParameterBytes;
}

CallBase *appendArguments(CallBase &Call, Function *Callee,
                          ArrayRef<Value *> Extra) {
  SmallVector<Value *, 16> Args(Call.args());
  Args.append(Extra.begin(), Extra.end());
  SmallVector<OperandBundleDef, 1> Bundles;
  Call.getOperandBundlesAsDefs(Bundles);
  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call)) {
    New = InvokeInst::Create(Callee->getFunctionType(), Callee,
                             Invoke->getNormalDest(), Invoke->getUnwindDest(),
                             Args, Bundles, "", Call.getIterator());
  } else {
    auto *NewCall = CallInst::Create(Callee->getFunctionType(), Callee, Args,
                                     Bundles, "", Call.getIterator());
    NewCall->setTailCallKind(cast<CallInst>(Call).getTailCallKind());
    New = NewCall;
  }
  New->setCallingConv(Callee->getCallingConv());
  New->setAttributes(Call.getAttributes());
  New->copyMetadata(Call);
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
  return New;
}

} // namespace dragon
