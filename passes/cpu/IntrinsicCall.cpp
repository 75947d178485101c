//===- IntrinsicCall.cpp - a call of an intrinsic, lowered ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/IntrinsicCall.h"

using namespace llvm;

namespace dragon {

Value *IntrinsicCall::fromI32(Value *V, Type *To) {
  if (To->isFloatTy())
    return B->CreateBitCast(V, To);
  if (To->isIntegerTy(1))
    return B->CreateIsNotNull(V);
  return V;
}

Value *IntrinsicCall::temporary() {
  if (!Temporary) {
    BasicBlock &Entry = Call->getFunction()->getEntryBlock();
    IRBuilder<> AtEntry(&Entry, Entry.begin());
    Temporary = AtEntry.CreateAlloca(AtEntry.getInt32Ty());
  }
  return Temporary;
}

} // namespace dragon
