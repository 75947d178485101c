//===- LinkedUnit.cpp - units with relocatable device code ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LinkedUnit.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace dragon {

/// One after that of ModuleEmbedding, which tells of the fat binary.
static constexpr unsigned ConstructorPriority = 101;

static void registerEarly(Module &M) {
  GlobalVariable *List = M.getGlobalVariable("llvm.global_ctors");
  auto *Rows = List && List->hasInitializer()
                   ? dyn_cast<ConstantArray>(List->getInitializer())
                   : nullptr;
  if (!Rows)
    return;
  SmallVector<Constant *, 4> Changed;
  for (const Use &Row : Rows->operands()) {
    auto *Fields = cast<ConstantStruct>(Row);
    if (Fields->getOperand(1)->getName() != "__cuda_module_ctor") {
      Changed.push_back(Fields);
      continue;
    }
    Constant *Priority =
        ConstantInt::get(Fields->getOperand(0)->getType(), ConstructorPriority);
    Changed.push_back(
        ConstantStruct::get(Fields->getType(), {Priority, Fields->getOperand(1),
                                                Fields->getOperand(2)}));
  }
  List->setInitializer(ConstantArray::get(Rows->getType(), Changed));
}

void nameLinkedUnit(Module &M, StringRef ModuleId) {
  constexpr StringLiteral Register = "__cudaRegisterLinkedBinary_";
  for (Function &F : M)
    if (F.isDeclaration() && F.getName().starts_with(Register)) {
      F.setName(Register + ModuleId);
      break;
    }
  registerEarly(M);
  for (GlobalAlias &Alias : make_early_inc_range(M.aliases()))
    if (Alias.getName().starts_with("__fatbinwrap_")) {
      Alias.replaceAllUsesWith(Alias.getAliasee());
      Alias.eraseFromParent();
    }
}

Error embedFatBinary(Module &M, StringRef Path) {
  GlobalVariable *Declared = M.getGlobalVariable("dragon.fat_binary");
  if (!Declared)
    return Error::success();
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return createStringError("cannot read '" + Path +
                             "': " + File.getError().message());
  Constant *Bytes = ConstantDataArray::getString(
      M.getContext(), (*File)->getBuffer(), /*AddNull=*/false);
  auto *Defined = new GlobalVariable(M, Bytes->getType(), /*isConstant=*/true,
                                     GlobalValue::PrivateLinkage, Bytes,
                                     "dragon.fat_binary");
  Defined->setSection(".nv_fatbin");
  Defined->setAlignment(Align(8));
  Declared->replaceAllUsesWith(Defined);
  Declared->eraseFromParent();
  return Error::success();
}

} // namespace dragon
