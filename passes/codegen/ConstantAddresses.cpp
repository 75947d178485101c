//===- ConstantAddresses.cpp - counters of constant memory ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/ConstantAddresses.h"
#include "passes/codegen/KeptBlocks.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/TargetParser/Triple.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// Pointers that a loop may get: each takes two of the registers that a warp
/// shares, of which it has 63.
constexpr size_t MostPointers = 4;

/// Base + Offset + Step * iteration: where a load of a loop reads.
struct Place {
  GlobalVariable *Base;
  int64_t Offset, Step; ///< in bytes
};

/// Loads that one pointer serves.
struct Group {
  Place First;
  SmallVector<std::pair<LoadInst *, int64_t>, 8> Loads; ///< from First's offset
};

bool isInConstantMemory(const GlobalVariable &Variable) {
  return Variable.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST;
}

std::optional<Place> placeOf(const LoadInst &Load, const Loop &In,
                             ScalarEvolution &Evolution) {
  if (!Load.isSimple())
    return std::nullopt;
  const auto *Address = dyn_cast<SCEVAddRecExpr>(
      Evolution.getSCEV(const_cast<Value *>(Load.getPointerOperand())));
  if (!Address || Address->getLoop() != &In || !Address->isAffine())
    return std::nullopt;
  const SCEV *Start = Address->getStart();
  const auto *Object = dyn_cast<SCEVUnknown>(Evolution.getPointerBase(Start));
  auto *Base =
      Object ? dyn_cast<GlobalVariable>(Object->getValue()->stripPointerCasts())
             : nullptr;
  const auto *Offset =
      dyn_cast<SCEVConstant>(Evolution.removePointerBase(Start));
  const auto *Step =
      dyn_cast<SCEVConstant>(Address->getStepRecurrence(Evolution));
  if (!Base || !isInConstantMemory(*Base) || !Offset || !Step ||
      Offset->getAPInt().getSignificantBits() > 32 ||
      Step->getAPInt().getSignificantBits() > 32)
    return std::nullopt;
  return Place{Base, Offset->getAPInt().getSExtValue(),
               Step->getAPInt().getSExtValue()};
}

SmallVector<Group, MostPointers> groupsOf(const Loop &In, const LoopInfo &Loops,
                                          ScalarEvolution &Evolution) {
  SmallVector<Group, MostPointers> Groups;
  for (BasicBlock *Block : In.blocks()) {
    if (Loops.getLoopFor(Block) != &In)
      continue;
    for (Instruction &I : *Block) {
      auto *Load = dyn_cast<LoadInst>(&I);
      const auto At = Load ? placeOf(*Load, In, Evolution) : std::nullopt;
      if (!At)
        continue;
      auto *Found = find_if(Groups, [&](const Group &Other) {
        return Other.First.Base == At->Base && Other.First.Step == At->Step;
      });
      if (Found == Groups.end()) {
        if (Groups.size() == MostPointers)
          continue;
        Groups.push_back({*At, {}});
        Found = &Groups.back();
      }
      Found->Loads.push_back({Load, At->Offset - Found->First.Offset});
    }
  }
  return Groups;
}

void givePointer(const Group &Of, const Loop &In) {
  BasicBlock *Header = In.getHeader(), *Latch = In.getLoopLatch();
  LLVMContext &Context = Header->getContext();
  Type *Pointer = PointerType::get(Context, NVPTXAS::ADDRESS_SPACE_CONST);
  IRBuilder<> Builder(Header, Header->begin());
  PHINode *At = Builder.CreatePHI(Pointer, 2, "constant");
  auto behind = [&](Value *From, int64_t Bytes) {
    return Builder.CreatePtrAdd(From, Builder.getInt64(uint64_t(Bytes)));
  };
  Builder.SetInsertPoint(In.getLoopPreheader()->getTerminator());
  At->addIncoming(behind(Of.First.Base, Of.First.Offset),
                  In.getLoopPreheader());
  Builder.SetInsertPoint(Latch->getTerminator());
  At->addIncoming(behind(At, Of.First.Step), Latch);
  for (auto [Load, Offset] : Of.Loads) {
    Builder.SetInsertPoint(Load);
    Value *Place = Offset ? behind(At, Offset) : At;
    Load->setOperand(LoadInst::getPointerOperandIndex(),
                     Builder.CreateAddrSpaceCast(
                         Place, Load->getPointerOperand()->getType()));
  }
}

} // namespace

PreservedAnalyses
ConstantAddressesPass::run(Function &F, FunctionAnalysisManager &Analyses) {
  const Module &M = *F.getParent();
  if (!M.getTargetTriple().isNVPTX() ||
      none_of(M.globals(), isInConstantMemory))
    return PreservedAnalyses::all();
  const LoopInfo &Loops = Analyses.getResult<LoopAnalysis>(F);
  auto &Evolution = Analyses.getResult<ScalarEvolutionAnalysis>(F);
  bool Changed = false;
  for (const Loop *In : Loops.getLoopsInPreorder()) {
    if (!In->getLoopPreheader() || !In->getLoopLatch())
      continue;
    for (const Group &Of : groupsOf(*In, Loops, Evolution)) {
      givePointer(Of, *In);
      Changed = true;
    }
  }
  return keptBlocks(Changed);
}

} // namespace dragon
