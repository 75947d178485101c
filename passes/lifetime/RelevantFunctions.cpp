//===- RelevantFunctions.cpp - functions that use buffers -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/RelevantFunctions.h"

#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/BufferNames.h"
#include "passes/lifetime/CallEffects.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

RelevantFunctions::RelevantFunctions(Module &M) {
  auto Add = [](SmallPtrSetImpl<const Function *> &Set, const Function *Start) {
    SmallVector<const Function *, 16> Pending{Start};
    while (!Pending.empty()) {
      const Function *F = Pending.pop_back_val();
      if (!Set.insert(F).second)
        continue;
      for (const User *U : F->users())
        if (auto *Call = dyn_cast<CallBase>(U))
          if (Call->getCalledOperand() == F)
            Pending.push_back(Call->getFunction());
    }
  };
  for (Function &F : M) {
    for (Instruction &I : instructions(F)) {
      if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
        noteField(*Address);
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      if (const LibraryFunction *Library = libraryFunction(*Call);
          Library && !Library->Uses.empty()) {
        Add(Functions, &F);
        Add(Device, &F);
        continue;
      }
      const CallEffect *Effect = callEffect(*Call);
      bool Launch = isLaunch(*Call);
      if (!Effect && !Launch)
        continue;
      if (Launch || (Effect->Kind != CallKind::Neutral &&
                     Effect->Kind != CallKind::Query))
        Add(Functions, &F);
      if (Launch || (Call->getCalledFunction()->getName().starts_with("cuda") &&
                     Effect->Kind != CallKind::Neutral &&
                     Effect->Kind != CallKind::Query))
        Add(Device, &F);
    }
  }
}

/// The structure and the field's number in `getelementptr %struct, ptr, 0, n`.
static std::optional<std::pair<const Type *, uint64_t>>
fieldOf(const GEPOperator &Address) {
  auto *Struct = dyn_cast<StructType>(Address.getSourceElementType());
  if (!Struct || Address.getNumIndices() != 2)
    return std::nullopt;
  auto *Number = dyn_cast<ConstantInt>((Address.idx_end() - 1)->get());
  if (!Number)
    return std::nullopt;
  return std::pair<const Type *, uint64_t>(Struct, Number->getZExtValue());
}

/// Clang calls the address of a field by the field's name, with a number where
/// it has called another value of the function so: the shortest is the name.
void RelevantFunctions::noteField(const GetElementPtrInst &Address) {
  auto Field = fieldOf(cast<GEPOperator>(Address));
  if (!Field || !Address.hasName())
    return;
  std::string &Name = Fields[*Field];
  StringRef Given = userName(Address.getName());
  if (Name.empty() || Given.size() < Name.size())
    Name = Given.str();
}

std::string RelevantFunctions::fieldName(const GEPOperator &Address) const {
  auto Field = fieldOf(Address);
  return Field ? Fields.lookup(*Field) : "";
}

std::string RelevantFunctions::fieldName(const StructType &Struct,
                                         unsigned Number) const {
  return Fields.lookup({&Struct, Number});
}

std::string RelevantFunctions::firstFieldName(const Type *T) const {
  std::string Name;
  while (auto *Struct = dyn_cast<StructType>(T)) {
    if (Struct->getNumElements() == 0)
      break;
    Name = Fields.lookup({Struct, 0});
    T = Struct->getElementType(0);
  }
  return T->isPointerTy() ? Name : "";
}

} // namespace dragon
