//===- EarlyLoads.cpp - loads come before what uses them ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/EarlyLoads.h"
#include "passes/codegen/KeptBlocks.h"
#include "passes/support/GlobalAccesses.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// What loads in front of a block may hold, in registers of 4 bytes. A thread
/// of a full multiprocessor has 32.
constexpr uint64_t MostRegisters = 24, RegisterBytes = 4;
/// Loads whose addresses take that many loads one after the other.
constexpr unsigned MostLevels = 3;
/// What computes one address, and loads that are looked at for one place.
constexpr unsigned MostOfAddress = 16, MostCandidates = 64;
/// Blocks with more instructions are straight-line code, where the assembler
/// has enough to issue.
constexpr size_t MostInBlock = 2000;

/// Other instructions stay in front of it, and of the loads behind it.
bool endsSection(const Instruction &I) {
  return I.mayWriteToMemory() ||
         !isGuaranteedToTransferExecutionToSuccessor(&I);
}

/// The loads of one block and where they can go: to its front, and behind each
/// instruction that most loads cannot pass.
class Block {
public:
  Block(BasicBlock &Instructions, AAResults &Aliases)
      : Instructions(Instructions), Aliases(Aliases) {}
  /// True if something moved.
  bool moveLoads();

private:
  using Slice = SmallVector<Instruction *, 8>;
  /// Adds what computes the operands of `I` behind the front, in order. The
  /// number of loads at this front on the longest way; none: it cannot move.
  std::optional<unsigned> operandsOf(const Instruction &I, Slice &Needed) const;
  std::optional<unsigned> operand(Instruction &From, Slice &Needed) const;
  bool mayPass(const LoadInst &Load, const Instruction &Other) const;
  bool moveToFront(LoadInst &Load, unsigned Level);
  void moveToFront(ArrayRef<LoadInst *> Candidates);
  bool isBehindFront(const Instruction &I) const {
    return &I == &*Front || Front->comesBefore(&I);
  }

  BasicBlock &Instructions;
  AAResults &Aliases;
  BasicBlock::iterator Front;
  bool Changed = false;
  /// Of the loads that were put before this front.
  DenseMap<const Instruction *, unsigned> Levels;
};

std::optional<unsigned> Block::operand(Instruction &From, Slice &Needed) const {
  if (From.getParent() != &Instructions || is_contained(Needed, &From))
    return 0;
  if (!isBehindFront(From)) {
    const auto Found = Levels.find(&From);
    return Found == Levels.end() ? 0 : Found->second + 1;
  }
  if (From.mayReadOrWriteMemory() || From.mayHaveSideEffects() ||
      isa<CallBase>(From) || Needed.size() == MostOfAddress)
    return std::nullopt;
  const std::optional<unsigned> Level = operandsOf(From, Needed);
  Needed.push_back(&From);
  return Level;
}

std::optional<unsigned> Block::operandsOf(const Instruction &I,
                                          Slice &Needed) const {
  unsigned Level = 0;
  for (Value *Operand : I.operands())
    if (auto *From = dyn_cast<Instruction>(Operand)) {
      const std::optional<unsigned> Below = operand(*From, Needed);
      if (!Below)
        return std::nullopt;
      Level = std::max(Level, *Below);
    }
  return Level;
}

bool Block::mayPass(const LoadInst &Load, const Instruction &Other) const {
  if (!isGuaranteedToTransferExecutionToSuccessor(&Other))
    return false;
  return !Other.mayWriteToMemory() ||
         Load.hasMetadata(LLVMContext::MD_invariant_load) ||
         !isModSet(Aliases.getModRefInfo(&Other, MemoryLocation::get(&Load)));
}

bool Block::moveToFront(LoadInst &Load, unsigned Level) {
  Slice Needed;
  const std::optional<unsigned> Found = operandsOf(Load, Needed);
  if (!Found || *Found != Level)
    return false;
  for (auto It = Front; &*It != &Load; ++It)
    if (!mayPass(Load, *It))
      return false;
  Needed.push_back(&Load);
  for (Instruction *I : Needed)
    if (I == &*Front) {
      ++Front;
    } else {
      I->moveBefore(Front);
      Changed = true;
    }
  return true;
}

void Block::moveToFront(ArrayRef<LoadInst *> Candidates) {
  const DataLayout &Layout = Instructions.getDataLayout();
  uint64_t Registers = 0;
  Levels.clear();
  for (unsigned Level = 0; Level < MostLevels; ++Level)
    for (LoadInst *Load : Candidates) {
      if (Levels.contains(Load))
        continue;
      const uint64_t Needs =
          divideCeil(Layout.getTypeStoreSize(Load->getType()).getFixedValue(),
                     uint64_t(RegisterBytes));
      if (Registers + Needs > MostRegisters)
        return;
      if (!moveToFront(*Load, Level))
        continue;
      Levels.try_emplace(Load, Level);
      Registers += Needs;
    }
}

bool Block::moveLoads() {
  if (Instructions.size() > MostInBlock)
    return false;
  Front = Instructions.getFirstNonPHIOrDbgOrAlloca();
  while (Front != Instructions.end()) {
    // The latency of device memory is worth hiding, no other.
    SmallVector<LoadInst *, MostCandidates> Candidates;
    for (Instruction &I : make_range(Front, Instructions.end()))
      if (auto *Load = dyn_cast<LoadInst>(&I);
          Load && Load->isSimple() && accessesGlobalMemory(*Load)) {
        Candidates.push_back(Load);
        if (Candidates.size() == MostCandidates)
          break;
      }
    if (Candidates.size() < 2)
      break;
    moveToFront(Candidates);
    while (Front != Instructions.end() && !endsSection(*Front))
      ++Front;
    if (Front != Instructions.end())
      ++Front;
  }
  return Changed;
}

} // namespace

PreservedAnalyses EarlyLoadsPass::run(Function &F,
                                      FunctionAnalysisManager &Analyses) {
  if (!F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  AAResults &Aliases = Analyses.getResult<AAManager>(F);
  bool Changed = false;
  for (BasicBlock &Instructions : F)
    Changed |= Block(Instructions, Aliases).moveLoads();
  return keptBlocks(Changed);
}

} // namespace dragon
