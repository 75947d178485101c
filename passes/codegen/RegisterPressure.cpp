//===- RegisterPressure.cpp - registers that a loop needs -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/codegen/RegisterPressure.h"
#include "passes/support/LaunchBounds.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace dragon {

namespace {

/// Of a multiprocessor, since compute capability 3.0, and the most that an
/// instruction can name.
constexpr uint64_t AllRegisters = 65536, MostOfThread = 255;
/// Threads get registers in such steps.
constexpr uint64_t Step = 8;
constexpr unsigned RegisterBits = 32;
/// Shared, constant and local memory: addresses of 32 bits.
constexpr unsigned FirstShort = 3, LastShort = 5;

bool isKernel(const Function &F) {
  return F.getCallingConv() == CallingConv::PTX_Kernel;
}

bool isKernelParameter(const Value &V) {
  if (const auto *Given = dyn_cast<Argument>(&V))
    return isKernel(*Given->getParent());
  const auto *Load = dyn_cast<LoadInst>(&V);
  if (!Load)
    return false;
  const auto *From =
      dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand()));
  return From && From->hasByValAttr() && isKernel(*From->getParent());
}

unsigned registersOf(const Type &T, const DataLayout &Layout) {
  if (T.isIntegerTy(1) || !T.isSized())
    return 0;
  if (T.isPointerTy()) {
    const unsigned Space = T.getPointerAddressSpace();
    return FirstShort <= Space && Space <= LastShort ? 1 : 2;
  }
  if (const auto *Structure = dyn_cast<StructType>(&T)) {
    unsigned All = 0;
    for (const Type *Element : Structure->elements())
      All += registersOf(*Element, Layout);
    return All;
  }
  return unsigned(divideCeil(
      Layout.getTypeSizeInBits(const_cast<Type *>(&T)).getKnownMinValue(),
      uint64_t(RegisterBits)));
}

/// Loads and stores have room for an offset.
bool isOffset(const Value &V) {
  const auto *Address = dyn_cast<GetElementPtrInst>(&V);
  return Address && Address->hasAllConstantIndices();
}

} // namespace

const Value &withoutOffsets(const Value &V) {
  const Value *Base = &V;
  while (isOffset(*Base))
    Base = cast<GetElementPtrInst>(Base)->getPointerOperand();
  return *Base;
}

unsigned registerLimit(const Function &F) {
  uint64_t Most = productOf(F, "nvvm.maxnreg").value_or(MostOfThread);
  const uint64_t Threads = productOf(F, "nvvm.maxntid").value_or(0) *
                           productOf(F, "nvvm.minctasm").value_or(1);
  if (Threads)
    Most = std::min(Most, alignDown(AllRegisters / Threads, Step));
  return unsigned(std::min(Most, MostOfThread));
}

unsigned registersOf(const Value &V) {
  if (isa<Constant>(V) || isKernelParameter(V))
    return 0;
  if (const auto *I = dyn_cast<Instruction>(&V))
    return registersOf(*V.getType(), I->getDataLayout());
  if (const auto *Given = dyn_cast<Argument>(&V))
    return registersOf(*V.getType(), Given->getParent()->getDataLayout());
  return 0;
}

RegisterPressure::RegisterPressure(const Function &F) {
  for (const BasicBlock &Block : F)
    for (const Instruction &I : Block)
      if (!isOffset(I))
        for (const Use &Operand : I.operands())
          addUse(withoutOffsets(*Operand.get()), Operand);
}

/// Live from where it is defined to where it is used: at the end of all blocks
/// in between.
void RegisterPressure::addUse(const Value &V, const Use &Used) {
  if (!registersOf(V))
    return;
  const auto *Definition = dyn_cast<Instruction>(&V);
  const BasicBlock *Defined = Definition ? Definition->getParent() : nullptr;
  SmallVector<const BasicBlock *, 16> Before;
  const auto *User = cast<Instruction>(Used.getUser());
  if (const auto *Phi = dyn_cast<PHINode>(User))
    Before.push_back(Phi->getIncomingBlock(Used));
  else if (User->getParent() != Defined)
    append_range(Before, predecessors(User->getParent()));
  while (!Before.empty()) {
    const BasicBlock *Block = Before.pop_back_val();
    if (LiveOut[Block].insert(&V).second && Block != Defined)
      append_range(Before, predecessors(Block));
  }
}

unsigned RegisterPressure::peak(const BasicBlock &Block) const {
  Values Live;
  if (const auto Found = LiveOut.find(&Block); Found != LiveOut.end())
    Live = Found->second;
  unsigned Now = 0;
  for (const Value *V : Live)
    Now += registersOf(*V);
  unsigned Peak = Now;
  for (const Instruction &I : reverse(Block)) {
    if (Live.erase(&I))
      Now -= registersOf(I);
    if (isa<PHINode>(I) || isOffset(I))
      continue;
    for (const Value *Operand : I.operands()) {
      const Value &V = withoutOffsets(*Operand);
      if (const unsigned Registers = registersOf(V);
          Registers && Live.insert(&V).second)
        Now += Registers;
    }
    Peak = std::max(Peak, Now);
  }
  return Peak;
}

unsigned RegisterPressure::peak(const Loop &L) const {
  unsigned Most = 0;
  for (const BasicBlock *Block : L.blocks())
    Most = std::max(Most, peak(*Block));
  return Most;
}

} // namespace dragon
