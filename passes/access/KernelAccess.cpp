//===- KernelAccess.cpp - the accesses of one kernel ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/KernelAccess.h"

#include "passes/access/AccessPattern.h"
#include "passes/access/Assembly.h"
#include "passes/access/BehindLoops.h"
#include "passes/access/EscapeFinder.h"
#include "passes/access/MustWrite.h"
#include "passes/support/DeviceFunctions.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/UnknownAddresses.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <map>
#include <set>
#include <utility>

using namespace llvm;

namespace dragon {

KernelAccess::KernelAccess(Function &Kernel, ExprPool &Pool,
                           ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI)
    : Kernel(Kernel), SE(SE), DT(DT), LI(LI), Found(Pool, SE, DT, LI) {}

/// What the kernel itself may write tells nothing of the launch that is to come
/// (IndexArrays.h): conditions on it would only make launches differ that are
/// planned alike, as the levels of a search.
static void dropConditionsOnOwnData(const ExprPool &Pool, KernelSummary &S) {
  std::set<std::pair<uint32_t, uint32_t>> Written;
  for (const PointerSummary &P : S.Pointers)
    if ((P.Flags & PointerEscapes) ||
        any_of(P.Accesses,
               [](const AccessSummary &A) { return A.Flags & AccessWrite; }))
      Written.insert({P.ArgIndex, P.ByteOffset});
  auto IsWritten = [&](uint32_t Node) {
    const ExprNode &N = Pool.Nodes[Node];
    return N.Op == ExprOp::Arg && Written.count({N.A, uint32_t(N.Imm)});
  };
  auto LoadsOwn = [&](uint32_t Node) {
    return Pool.anyIn(Node, [&](uint32_t I) {
      return Pool.Nodes[I].Op == ExprOp::Loaded &&
             Pool.anyIn(Pool.Nodes[I].A, IsWritten);
    });
  };
  for (PointerSummary &P : S.Pointers)
    for (AccessSummary &A : P.Accesses) {
      const size_t Before = A.Guards.size();
      erase_if(A.Guards, [&](const GuardRecord &G) {
        return G.Loop == NoIndex && (LoadsOwn(G.Lhs) || LoadsOwn(G.Rhs));
      });
      if (A.Guards.size() == Before)
        continue;
      A.Flags |= AccessConditional | AccessUnsaid;
      A.Flags &= ~AccessExact;
    }
}

KernelSummary KernelAccess::run() {
  const DataLayout &Layout = Kernel.getDataLayout();
  KernelSummary S;
  S.Name = Kernel.getName().str();
  for (const Argument &Arg : Kernel.args()) {
    Type *T = Arg.hasByValAttr() ? Arg.getParamByValType() : Arg.getType();
    S.ArgSizes.push_back(uint32_t(Layout.getTypeAllocSize(T)));
    for (const PointerParameter &P : pointersOfParameter(Arg))
      Found.pointer(P);
  }
  for (BasicBlock &Block : Kernel)
    if (DT.isReachableFromEntry(&Block))
      for (Instruction &I : Block)
        visit(I);
  for (AccessRecorder::Pointer &P : Found.pointers())
    EscapeFinder(Kernel, SE, Found, P).run();
  BehindLoops(Found, DT, LI).renumber();
  countIterations();
  findPlacesBesideLoops();
  for (AccessRecorder::Pointer &P : Found.pointers())
    S.Pointers.push_back(summarize(P));
  classifyPointers(Found.pool(), S);
  dropConditionsOnOwnData(Found.pool(), S);
  S.Flags = Flags;
  if (Found.touchesAnything())
    S.Flags |= KernelTouchesAnything;
  return S;
}

/// The address of an access may say nothing of the loop that it is in, as that
/// of a generator of random numbers does: each iteration touches something
/// else, and a range of iterations is what must find room. So a condition says
/// how many there are, where arguments tell it.
void KernelAccess::countIterations() {
  ExprPool &Pool = Found.pool();
  auto IsGiven = [&](uint32_t Node) {
    return !Pool.anyIn(Node, [&](uint32_t I) {
      const ExprOp Op = Pool.Nodes[I].Op;
      return Op == ExprOp::Opaque || Op == ExprOp::Unknown ||
             Op == ExprOp::Loaded || Op == ExprOp::Loop;
    });
  };
  for (AccessRecorder::Pointer &P : Found.pointers())
    for (FoundAccess &A : P.Accesses) {
      const Loop *L = LI.getLoopFor(A.At->getParent());
      if (!L || !isAddressUnknown(A.Summary, Pool))
        continue;
      L = L->getOutermostLoop();
      const uint32_t Counter = Found.indices().counterOf(*L).Node;
      const auto Number = uint32_t(Pool.Nodes[Counter].Imm);
      const uint32_t Last = Pool.Nodes[Counter].A;
      if (Last == NoIndex || !IsGiven(Last) || Pool.counts(A.Summary, Number))
        continue;
      A.Summary.Guards.push_back({Counter,
                                  Pool.cast(ExprOp::ZExt, Last, 64),
                                  NoIndex,
                                  GuardPred::ULE,
                                  {}});
      if (!Found.indices().hasExactCount(*L))
        A.Summary.Flags &= ~AccessExact;
    }
}

/// Outermost loops that are left at their head alone, as those are that can be
/// cut: where simplification leads out of the middle of one, what stands there
/// is part of an iteration as it was written.
void KernelAccess::findPlacesBesideLoops() {
  std::vector<std::pair<uint32_t, const Loop *>> Loops;
  for (const Loop *L : LI)
    if (const std::optional<uint32_t> Number = Found.indices().numberOf(*L);
        Number && L->getExitingBlock() == L->getHeader())
      Loops.emplace_back(*Number, L);
  llvm::sort(Loops);
  for (AccessRecorder::Pointer &P : Found.pointers())
    for (FoundAccess &A : P.Accesses) {
      const BasicBlock *At = A.At->getParent();
      for (auto [Number, L] : Loops) {
        if (L->contains(At))
          continue;
        if (DT.dominates(L->getHeader(), At))
          A.Summary.Beside.emplace_back(Number, LoopPlace::Last);
        else if (!isPotentiallyReachable(L->getHeader(), At, nullptr, &DT, &LI))
          A.Summary.Beside.emplace_back(Number, LoopPlace::First);
      }
    }
}

std::vector<TaggedLoop> KernelAccess::loops() {
  std::vector<TaggedLoop> Result;
  std::map<uint32_t, unsigned> Tags;
  for (const Loop *L : LI.getLoopsInPreorder()) {
    const std::optional<uint32_t> Tag = tagOf(*L);
    if (!Tag)
      return {};
    ++Tags[*Tag];
    const std::optional<uint32_t> Number = Found.indices().numberOf(*L);
    if (Number)
      Result.push_back({*Tag, *Number, false});
  }
  for (TaggedLoop &L : Result)
    L.IsSeveral = Tags[L.Tag] > 1;
  return Result;
}

PointerSummary KernelAccess::summarize(AccessRecorder::Pointer &P) {
  PointerSummary S;
  S.ArgIndex = P.From.Arg->getArgNo();
  S.ByteOffset = P.From.ByteOffset;
  S.Name = Found.nameOf(P.From);
  S.Flags = 0;
  if (P.Escapes)
    S.Flags |= PointerEscapes;
  if (P.Kept)
    S.Flags |= PointerKept;
  summarizeAccesses(P.Accesses, InstructionAccesses(SE, DT, LI), S);
  if (ThreadsMayExit)
    for (AccessSummary &A : S.Accesses)
      A.Flags &= ~AccessExact;
  return S;
}

void KernelAccess::visit(Instruction &I) {
  const DataLayout &Layout = Kernel.getDataLayout();
  auto size = [&](Type *T) -> uint64_t {
    TypeSize Size = Layout.getTypeStoreSize(T);
    return Size.isScalable() ? 0 : Size.getFixedValue();
  };
  if (auto *Load = dyn_cast<LoadInst>(&I))
    Found.access(I, *Load->getPointerOperand(), size(Load->getType()),
                 AccessRead);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    Found.access(I, *Store->getPointerOperand(),
                 size(Store->getValueOperand()->getType()), AccessWrite);
  else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    Found.access(I, *Atomic->getPointerOperand(),
                 size(Atomic->getValOperand()->getType()),
                 AccessRead | AccessWrite | AccessAtomic);
  else if (auto *Atomic = dyn_cast<AtomicCmpXchgInst>(&I))
    Found.access(I, *Atomic->getPointerOperand(),
                 size(Atomic->getNewValOperand()->getType()),
                 AccessRead | AccessWrite | AccessAtomic);
  else if (auto *Call = dyn_cast<CallBase>(&I))
    visitCall(*Call);
  else if (I.mayReadOrWriteMemory() && !isa<FenceInst>(I))
    Found.anything(I, Twine("'") + I.getOpcodeName() + "' is not understood");
}

const std::optional<CalleeAccess> &KernelAccess::inside(Function &Callee) {
  auto [It, IsNew] = Callees.try_emplace(&Callee);
  if (IsNew)
    It->second = accessOfCallee(Callee);
  return It->second;
}

void KernelAccess::visitCall(CallBase &Call) {
  if (Call.isInlineAsm())
    return visitAssembly(Call);
  if (auto *Copy = dyn_cast<MemIntrinsic>(&Call))
    return visitCopy(*Copy);
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call))
    return visitIntrinsic(*Intrinsic);
  Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return Found.anything(Call, "calls a function through a pointer");
  StringRef Name = Callee->getName();
  if (isPrinting(Name)) {
    Flags |= KernelHasPrintf;
    return;
  }
  if (isMathFunction(Name) || Name == "malloc" || Name == "free" ||
      Name == "__nvvm_reflect") {
    // The mathematical functions write their second results to variables.
    for (Value *Arg : Call.args())
      if (isMathFunction(Name) && Arg->getType()->isPointerTy())
        Found.accessAll(Call, *Arg, AccessWrite,
                        "is passed to a mathematical function");
    return;
  }
  if (!Call.mayReadOrWriteMemory())
    return;
  if (!Callee->isDeclaration())
    if (const std::optional<CalleeAccess> &Inside = inside(*Callee);
        Inside && Call.arg_size() <= Inside->Kinds.size()) {
      Flags |= Inside->Flags;
      ThreadsMayExit |= Inside->ThreadsMayExit;
      for (const Use &Arg : Call.args())
        if (const uint8_t Kinds = Inside->Kinds[Call.getArgOperandNo(&Arg)])
          Found.accessAll(Call, *Arg, Kinds,
                          "is passed to a function that is not inlined");
      return;
    }
  Found.anything(Call, "calls '" + Name + "', " +
                           (Callee->isDeclaration()
                                ? "whose code is in another translation unit"
                                : "which is recursive, or too large to be "
                                  "looked into"));
}

/// The bytes that a copy from global to shared memory reads at most; 0 for
/// anything else.
static uint64_t widthOfAsyncCopy(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::nvvm_cp_async_ca_shared_global_4:
  case Intrinsic::nvvm_cp_async_ca_shared_global_4_s:
    return 4;
  case Intrinsic::nvvm_cp_async_ca_shared_global_8:
  case Intrinsic::nvvm_cp_async_ca_shared_global_8_s:
    return 8;
  case Intrinsic::nvvm_cp_async_ca_shared_global_16:
  case Intrinsic::nvvm_cp_async_ca_shared_global_16_s:
  case Intrinsic::nvvm_cp_async_cg_shared_global_16:
  case Intrinsic::nvvm_cp_async_cg_shared_global_16_s:
    return 16;
  default:
    return 0;
  }
}

void KernelAccess::visitIntrinsic(IntrinsicInst &Call) {
  StringRef Name = Call.getCalledFunction()->getName();
  if (Call.isConvergent())
    Flags |= KernelHasBarrier;
  switch (Call.getIntrinsicID()) {
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
  case Intrinsic::ubsantrap:
    Flags |= KernelHasPrintf;
    return;
  case Intrinsic::nvvm_exit:
    ThreadsMayExit = true;
    return;
  case Intrinsic::fake_use:
  case Intrinsic::vastart:
  case Intrinsic::vaend:
  case Intrinsic::vacopy:
    return;
  default:
    break;
  }
  if (!Call.mayReadOrWriteMemory() || Call.isAssumeLikeIntrinsic())
    return;
  if (uint64_t Width = widthOfAsyncCopy(Call.getIntrinsicID()))
    return Found.access(Call, *Call.getArgOperand(1), Width, AccessRead);
  if (usesDescriptor(Name))
    return Found.anything(Call, "uses a texture, surface or tensor map");
  // All others touch memory through their pointer operands only.
  bool Atomic = Name.starts_with("llvm.nvvm.atomic.");
  for (unsigned I = 0; I < Call.arg_size(); ++I) {
    Value *Arg = Call.getArgOperand(I);
    if (!Arg->getType()->isPointerTy())
      continue;
    if (Atomic) {
      Found.access(Call, *Arg,
                   Kernel.getDataLayout().getTypeStoreSize(Call.getType()),
                   AccessRead | AccessWrite | AccessAtomic);
      continue;
    }
    uint8_t Kinds = AccessRead | AccessWrite;
    if (Call.onlyReadsMemory(I) || Call.onlyReadsMemory())
      Kinds = AccessRead;
    else if (Call.onlyWritesMemory(I) || Call.onlyWritesMemory())
      Kinds = AccessWrite;
    Found.accessAll(Call, *Arg, Kinds,
                    "is used by an intrinsic of unknown width");
  }
}

void KernelAccess::visitCopy(MemIntrinsic &Copy) {
  Found.accessBytes(Copy, *Copy.getRawDest(), *Copy.getLength(), AccessWrite);
  if (auto *Transfer = dyn_cast<MemTransferInst>(&Copy))
    Found.accessBytes(Copy, *Transfer->getRawSource(), *Copy.getLength(),
                      AccessRead);
}

void KernelAccess::visitAssembly(CallBase &Call) {
  StringRef Text = cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
  const CalleeAccess Effects = effectsOfAssembly(Text);
  Flags |= Effects.Flags;
  ThreadsMayExit |= Effects.ThreadsMayExit;
  if (!touchesMemory(Text))
    return;
  if (auto Accesses = accessesOfAssembly(Call)) {
    for (const AssemblyAccess &A : *Accesses)
      Found.access(Call, *A.Address, A.Width, A.Kinds, A.Offset);
    return;
  }
  // An address that is made of one of our pointers; anything else may point
  // anywhere.
  bool Understood = false;
  for (Value *Arg : Call.args()) {
    Value *Address = Arg;
    if (auto *Cast = dyn_cast<PtrToIntOperator>(Address))
      Address = Cast->getPointerOperand();
    if (Address->getType()->isPointerTy()) {
      Found.accessAll(Call, *Address, AccessRead | AccessWrite,
                      "is accessed by inline assembly");
      Understood = true;
    } else if (Address->getType()->isIntegerTy(64) && !isa<Constant>(Address)) {
      return Found.anything(Call, "accesses memory in inline assembly");
    }
  }
  // Addresses in shared memory have 32 bits; without one there is no address.
  if (!Understood && !Text.contains(".shared"))
    Found.anything(Call, "accesses memory in inline assembly");
}

} // namespace dragon
