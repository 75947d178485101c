//===- LoadedData.cpp - values that are made of loaded data ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/LoadedData.h"

#include "passes/access/Canonicalize.h"
#include "passes/support/DeviceFunctions.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace dragon {

/// Of more values than this it is assumed.
constexpr unsigned MaxValues = 1000;

bool dependsOnMemory(const Value &V) {
  SmallPtrSet<const Value *, 16> Seen;
  SmallVector<const Value *, 16> Work(1, &V);
  while (!Work.empty()) {
    auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I || !Seen.insert(I).second)
      continue;
    if (Seen.size() > MaxValues)
      return true;
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      if (!fieldReadBy(*const_cast<LoadInst *>(Load)))
        return true;
      continue;
    }
    auto *Call = dyn_cast<CallBase>(I);
    bool Mathematical = Call && Call->getCalledFunction() &&
                        isMathFunction(Call->getCalledFunction()->getName());
    if (I->mayReadFromMemory() && !Mathematical)
      return true;
    for (const Value *Operand : drop_begin(I->operands(), isa<SelectInst>(I)))
      Work.push_back(Operand);
  }
  return false;
}

} // namespace dragon
