//===- LinkedUnit.cpp - units with relocatable device code ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LinkedUnit.h"

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

void nameLinkedUnit(Module &M, StringRef ModuleId) {
  constexpr StringLiteral Register = "__cudaRegisterLinkedBinary_";
  for (Function &F : M)
    if (F.isDeclaration() && F.getName().starts_with(Register)) {
      F.setName(Register + ModuleId);
      break;
    }
  for (GlobalAlias &Alias : make_early_inc_range(M.aliases()))
    if (Alias.getName().starts_with("__fatbinwrap_")) {
      Alias.replaceAllUsesWith(Alias.getAliasee());
      Alias.eraseFromParent();
    }
}

} // namespace dragon
