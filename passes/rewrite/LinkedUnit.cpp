//===- LinkedUnit.cpp - units with relocatable device code ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LinkedUnit.h"

#include "passes/rewrite/ModuleEmbedding.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace dragon {

void nameLinkedUnit(Module &M, StringRef ModuleId) {
  constexpr StringLiteral Register = "__cudaRegisterLinkedBinary_";
  for (Function &F : M)
    if (F.isDeclaration() && F.getName().starts_with(Register)) {
      F.setName(Register + ModuleId);
      break;
    }
  registerBeforeConstructors(M);
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
