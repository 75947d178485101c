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

#include <algorithm>
#include <iterator>

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

/// `Before` is called for each loop before it gets its number.
void tagLoops(Module &M, function_ref<void(const Loop &)> Before) {
  uint32_t Functions = 0;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    const std::optional<uint32_t> First = firstTag(Functions++);
    DominatorTree DT(F);
    LoopInfo LI(DT);
    uint32_t Number = 0;
    for (Loop *L : LI.getLoopsInPreorder())
      if (First && Number < MostLoops) {
        Before(*L);
        tag(*L, *First + Number++);
      }
  }
}

} // namespace

static bool isTag(const Metadata *Operand) {
  const auto *Node = dyn_cast_or_null<MDNode>(Operand);
  const auto *Name = Node && Node->getNumOperands() == 2
                         ? dyn_cast<MDString>(Node->getOperand(0))
                         : nullptr;
  return Name && Name->getString() == Property;
}

void tag(Loop &L, uint32_t Tag) {
  LLVMContext &Context = L.getHeader()->getContext();
  auto *Number =
      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(Context), Tag));
  auto *Own = MDNode::get(Context, {MDString::get(Context, Property), Number});
  SmallVector<Metadata *, 4> Operands(1); // itself
  if (MDNode *Before = L.getLoopID())
    copy_if(drop_begin(Before->operands()), std::back_inserter(Operands),
            [](const MDOperand &Operand) { return !isTag(Operand); });
  Operands.push_back(Own);
  MDNode *Id = MDNode::getDistinct(Context, Operands);
  Id->replaceOperandWith(0, Id);
  L.setLoopID(Id);
}

TagRange freeTags(Function &Code, const Function &Kernel) {
  uint32_t Functions = 0;
  for (const Function &F : *Kernel.getParent()) {
    if (&F == &Kernel)
      break;
    Functions += !F.isDeclaration();
  }
  const std::optional<uint32_t> First = firstTag(Functions);
  if (!First)
    return {0, 0};
  DominatorTree DT(Code);
  LoopInfo LI(DT);
  const auto Own = uint32_t(LI.getLoopsInPreorder().size());
  return {*First + std::min(Own, MostLoops), *First + MostLoops};
}

void tagLoops(Module &M) {
  tagLoops(M, [](const Loop &) {});
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

Loop *loopOfTag(LoopInfo &LI, uint32_t Tag) {
  for (Loop *L : LI.getLoopsInPreorder())
    if (tagOf(*L) == Tag)
      return L;
  return nullptr;
}

TaggedLoops::TaggedLoops(Module &M) {
  tagLoops(M, [this](const Loop &L) {
    SmallVector<BasicBlock *, 4> Latches;
    L.getLoopLatches(Latches);
    for (BasicBlock *Latch : Latches) {
      Instruction *End = Latch->getTerminator();
      Before.emplace_back(End, End->getMetadata(LLVMContext::MD_loop));
    }
  });
}

TaggedLoops::~TaggedLoops() {
  // A latch may be that of two loops.
  for (const auto &[End, Id] : reverse(Before))
    if (auto *I = dyn_cast_or_null<Instruction>(static_cast<Value *>(End)))
      I->setMetadata(LLVMContext::MD_loop, Id);
}

} // namespace dragon
