//===- LoopTags.cpp - loops that are found again in a copy ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/LoopTags.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr StringRef Property = "dragon.loop";

/// The number of the first loop of each function that has a body follows that
/// of the function's place in the module: functions have fewer loops.
constexpr uint32_t MostLoops = 1 << 12;

std::optional<uint32_t> firstTag(uint32_t Function) {
  return Function <= UINT32_MAX / MostLoops - 1
             ? std::optional(Function * MostLoops)
             : std::nullopt;
}

void tag(Loop &L, uint32_t Tag) {
  LLVMContext &Context = L.getHeader()->getContext();
  auto *Number =
      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(Context), Tag));
  auto *Own = MDNode::get(Context, {MDString::get(Context, Property), Number});
  SmallVector<Metadata *, 4> Operands(1); // itself
  if (MDNode *Before = L.getLoopID())
    append_range(Operands, drop_begin(Before->operands()));
  Operands.push_back(Own);
  MDNode *Id = MDNode::getDistinct(Context, Operands);
  Id->replaceOperandWith(0, Id);
  L.setLoopID(Id);
}

} // namespace

void tagLoops(Module &M) {
  uint32_t Functions = 0;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    const std::optional<uint32_t> First = firstTag(Functions++);
    DominatorTree DT(F);
    LoopInfo LI(DT);
    uint32_t Number = 0;
    for (Loop *L : LI.getLoopsInPreorder())
      if (First && Number < MostLoops)
        tag(*L, *First + Number++);
  }
}

std::optional<uint32_t> tagOf(const Loop &L) {
  const std::optional<const MDOperand *> Value =
      findStringMetadataForLoop(&L, Property);
  if (!Value || !*Value)
    return std::nullopt;
  const auto *Number = mdconst::dyn_extract<ConstantInt>(**Value);
  return Number ? std::optional(uint32_t(Number->getZExtValue()))
                : std::nullopt;
}

Loop *loopOfTag(Function &F, LoopInfo &LI, uint32_t Tag) {
  uint32_t Functions = 0;
  for (const Function &Other : *F.getParent()) {
    if (&Other == &F)
      break;
    Functions += !Other.isDeclaration();
  }
  const std::optional<uint32_t> First = firstTag(Functions);
  const SmallVector<Loop *, 4> Loops = LI.getLoopsInPreorder();
  if (!First || Tag < *First || Tag - *First >= Loops.size())
    return nullptr;
  return Loops[Tag - *First];
}

} // namespace dragon
