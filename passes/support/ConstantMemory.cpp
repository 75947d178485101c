//===- ConstantMemory.cpp - what need not be in it ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/ConstantMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

static constexpr unsigned GlobalSpace = 1, ConstantSpace = 4;
static constexpr uint64_t ConstantBytes = 64 << 10;

/// Whether llvm.used and the like have it, in the generic address space, and
/// nothing else.
static bool isOnlyKept(const GlobalVariable &Variable) {
  return all_of(Variable.users(), [](const User *Of) {
    auto *Cast = dyn_cast<ConstantExpr>(Of);
    return Cast && Cast->getOpcode() == Instruction::AddrSpaceCast &&
           all_of(Cast->users(), [](const User *List) {
             return isa<ConstantArray>(List) &&
                    all_of(List->users(), [](const User *Used) {
                      auto *Global = dyn_cast<GlobalVariable>(Used);
                      return Global && Global->getName().starts_with("llvm.");
                    });
           });
  });
}

static void moveToGlobalMemory(GlobalVariable &Old) {
  auto *New = new GlobalVariable(
      *Old.getParent(), Old.getValueType(), Old.isConstant(), Old.getLinkage(),
      Old.getInitializer(), "", &Old, GlobalVariable::NotThreadLocal,
      GlobalSpace, Old.isExternallyInitialized());
  New->copyAttributesFrom(&Old);
  New->setComdat(Old.getComdat());
  New->copyMetadata(&Old, /*Offset=*/0);
  New->takeName(&Old);
  for (User *Of : make_early_inc_range(Old.users()))
    Of->replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(New, Of->getType()));
  Old.removeDeadConstantUsers();
  Old.eraseFromParent();
}

bool relieveConstantMemory(Module &M) {
  const DataLayout &Layout = M.getDataLayout();
  uint64_t Bytes = 0;
  SmallVector<GlobalVariable *, 8> Unused;
  for (GlobalVariable &Variable : M.globals()) {
    if (Variable.isDeclaration() || Variable.getAddressSpace() != ConstantSpace)
      continue;
    Bytes += Layout.getTypeAllocSize(Variable.getValueType());
    Variable.removeDeadConstantUsers();
    if (isOnlyKept(Variable))
      Unused.push_back(&Variable);
  }
  if (Bytes <= ConstantBytes)
    return false;
  for (GlobalVariable *Variable : Unused)
    moveToGlobalMemory(*Variable);
  return !Unused.empty();
}

} // namespace dragon
