//===- SideEffects.cpp - does a kernel act on buffers only ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/SideEffects.h"

#include "passes/support/DeviceFunctions.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/UsedGlobals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

namespace {

/// Memory that kernels share and that is no buffer. __constant__ variables are
/// changed by the host only.
bool isSharedVariable(const GlobalVariable &Variable) {
  const unsigned Space = Variable.getAddressSpace();
  return !Variable.isConstant() && Space != NVPTXAS::ADDRESS_SPACE_SHARED &&
         Space != NVPTXAS::ADDRESS_SPACE_CONST;
}

bool usesSharedVariable(const Instruction &I) {
  return any_of(variablesOf(I), [](const GlobalVariable *Variable) {
    return isSharedVariable(*Variable);
  });
}

bool isTextureName(StringRef Name) {
  return Name.starts_with("tex") || Name.starts_with("tld4") ||
         Name.starts_with("suld") || Name.starts_with("sust") ||
         Name.starts_with("sured");
}

bool hasOtherEffects(const CallBase &Call) {
  if (const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand())) {
    StringRef Text = Asm->getAsmString();
    for (StringRef Name : {"tex.", "tld4.", "suld.", "sust.", "sured."})
      if (Text.contains(Name))
        return true;
    return false;
  }
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return true;
  if (!Callee->isDeclaration())
    return false;
  StringRef Name = Callee->getName();
  if (Callee->isIntrinsic())
    return Name.consume_front("llvm.nvvm.") && isTextureName(Name);
  return !isMathFunction(Name) && Name != "__nvvm_reflect" &&
         Name != "memcpy" && Name != "memset" && Name != "memmove";
}

} // namespace

bool actsOnBuffersOnly(Function &Kernel) {
  bool Indirect = false;
  for (Function *F : reachableFunctions(Kernel, &Indirect))
    for (Instruction &I : instructions(*F)) {
      const auto *Call = dyn_cast<CallBase>(&I);
      if ((Call && hasOtherEffects(*Call)) || usesSharedVariable(I))
        return false;
    }
  return !Indirect;
}

} // namespace dragon
