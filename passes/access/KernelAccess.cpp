//===- KernelAccess.cpp - the accesses of one kernel ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/KernelAccess.h"

#include "passes/access/AccessPattern.h"
#include "passes/access/Assembly.h"
#include "passes/access/MustWrite.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

KernelAccess::KernelAccess(Function &Kernel, ExprPool &Pool,
                           ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI)
    : Kernel(Kernel), SE(SE), DT(DT), LI(LI), Indices(Pool, SE, LI),
      Conditions(Indices, DT, LI) {}

std::string KernelAccess::nameOf(const PointerParameter &From) const {
  std::string Name = From.Arg->getName().str();
  if (Name.empty())
    return Name;
  if (From.Arg->hasByValAttr())
    Name += "+" + std::to_string(From.ByteOffset);
  return Name;
}

KernelAccess::Pointer &KernelAccess::pointer(const PointerParameter &From) {
  for (Pointer &P : Pointers)
    if (P.From == From)
      return P;
  Pointers.push_back({From, {}, false});
  return Pointers.back();
}

KernelSummary KernelAccess::run() {
  const DataLayout &Layout = Kernel.getDataLayout();
  KernelSummary S;
  S.Name = Kernel.getName().str();
  for (const Argument &Arg : Kernel.args()) {
    Type *T = Arg.hasByValAttr() ? Arg.getParamByValType() : Arg.getType();
    S.ArgSizes.push_back(uint32_t(Layout.getTypeAllocSize(T)));
    for (const PointerParameter &P : pointersOfParameter(Arg))
      pointer(P);
  }
  for (BasicBlock &Block : Kernel)
    if (DT.isReachableFromEntry(&Block))
      for (Instruction &I : Block)
        visit(I);
  for (size_t I = 0; I < Pointers.size(); ++I)
    findEscapes(Pointers[I]);
  for (Pointer &P : Pointers)
    S.Pointers.push_back(summarize(P));
  classifyPointers(Indices.pool(), S);
  S.Flags = Flags;
  return S;
}

PointerSummary KernelAccess::summarize(Pointer &P) {
  PointerSummary S;
  S.ArgIndex = P.From.Arg->getArgNo();
  S.ByteOffset = P.From.ByteOffset;
  S.Name = nameOf(P.From);
  S.Flags = 0;
  if (P.Escapes)
    S.Flags |= PointerEscapes;
  summarizeAccesses(P.Accesses, InstructionAccesses(SE, DT, LI), S);
  if (ThreadsMayExit)
    for (AccessSummary &A : S.Accesses)
      A.Flags &= ~AccessExact;
  return S;
}

void KernelAccess::touchesAnything(Instruction &I, const Twine &Why) {
  if (!(Flags & KernelTouchesAnything))
    Notes.push_back({&I, "", Why.str()});
  Flags |= KernelTouchesAnything;
}

// -- Instructions

void KernelAccess::visit(Instruction &I) {
  const DataLayout &Layout = Kernel.getDataLayout();
  auto size = [&](Type *T) -> uint64_t {
    TypeSize Size = Layout.getTypeStoreSize(T);
    return Size.isScalable() ? 0 : Size.getFixedValue();
  };
  if (auto *Load = dyn_cast<LoadInst>(&I))
    access(I, *Load->getPointerOperand(), size(Load->getType()), AccessRead);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    access(I, *Store->getPointerOperand(),
           size(Store->getValueOperand()->getType()), AccessWrite);
  else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    access(I, *Atomic->getPointerOperand(),
           size(Atomic->getValOperand()->getType()),
           AccessRead | AccessWrite | AccessAtomic);
  else if (auto *Atomic = dyn_cast<AtomicCmpXchgInst>(&I))
    access(I, *Atomic->getPointerOperand(),
           size(Atomic->getNewValOperand()->getType()),
           AccessRead | AccessWrite | AccessAtomic);
  else if (auto *Call = dyn_cast<CallBase>(&I))
    visitCall(*Call);
  else if (I.mayReadOrWriteMemory() && !isa<FenceInst>(I))
    touchesAnything(I, Twine("'") + I.getOpcodeName() + "' is not understood");
}

/// Of the intrinsics whose operands are descriptors of memory elsewhere.
static bool usesDescriptor(StringRef Intrinsic) {
  for (const char *Part : {".tensor.", ".tex.", ".suld.", ".sust.", ".sured.",
                           ".tld4.", ".tensormap."})
    if (Intrinsic.contains(Part))
      return true;
  return false;
}

/// What a function that is not inlined may do with memory that only its
/// arguments lead to; none: it does more than can be told of it.
std::optional<uint8_t> KernelAccess::kindsOfCallee(Function &Callee) {
  uint8_t Kinds = AccessRead | AccessWrite;
  bool Barrier = false;
  bool MakesIndirectCalls = false;
  for (Function *F : reachableFunctions(Callee, &MakesIndirectCalls))
    for (Instruction &I : instructions(*F)) {
      if (I.isAtomic())
        Kinds |= AccessAtomic;
      auto *Call = dyn_cast<CallBase>(&I);
      // Threads may end there.
      if (isa<UnreachableInst>(I) ||
          (Call && (Call->isInlineAsm() || Call->doesNotReturn())))
        return std::nullopt;
      auto *Intrinsic = dyn_cast_or_null<IntrinsicInst>(Call);
      if (!Intrinsic)
        continue;
      Barrier |= Intrinsic->isConvergent();
      if (usesDescriptor(Intrinsic->getCalledFunction()->getName()) ||
          (Intrinsic->mayReadOrWriteMemory() && !Intrinsic->isConvergent() &&
           !Intrinsic->isAssumeLikeIntrinsic() &&
           !isa<MemIntrinsic>(Intrinsic) &&
           Intrinsic->getIntrinsicID() != Intrinsic::fake_use))
        return std::nullopt;
    }
  if (MakesIndirectCalls)
    return std::nullopt;
  if (Barrier)
    Flags |= KernelHasBarrier;
  return Kinds;
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
    return touchesAnything(Call, "calls a function through a pointer");
  StringRef Name = Callee->getName();
  if (Name == "vprintf" || Name == "__assertfail") {
    // Strings are read by the device's own printing, before the kernel ends.
    Flags |= KernelHasPrintf;
    return;
  }
  if (Name.starts_with("__nv_") || Name == "malloc" || Name == "free" ||
      Name == "__nvvm_reflect") {
    // The mathematical functions write their second results to variables.
    for (Value *Arg : Call.args())
      if (Name.starts_with("__nv_") && Arg->getType()->isPointerTy())
        accessAll(Call, *Arg, AccessWrite,
                  "is passed to a mathematical function");
    return;
  }
  if (!Call.mayReadOrWriteMemory())
    return;
  if (!Callee->isDeclaration() && Call.onlyAccessesInaccessibleMemOrArgMem())
    if (std::optional<uint8_t> Kinds = kindsOfCallee(*Callee)) {
      for (const Use &Arg : Call.args())
        if (Arg->getType()->isPtrOrPtrVectorTy())
          accessAll(Call, *Arg,
                    Call.onlyReadsMemory(Call.getArgOperandNo(&Arg))
                        ? uint8_t(AccessRead)
                        : *Kinds,
                    "is passed to a function that is not inlined");
      return;
    }
  touchesAnything(Call, "calls '" + Name + "', " +
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
    return access(Call, *Call.getArgOperand(1), Width, AccessRead);
  if (usesDescriptor(Name))
    return touchesAnything(Call, "uses a texture, surface or tensor map");
  // All others touch memory through their pointer operands only.
  bool Atomic = Name.starts_with("llvm.nvvm.atomic.");
  for (unsigned I = 0; I < Call.arg_size(); ++I) {
    Value *Arg = Call.getArgOperand(I);
    if (!Arg->getType()->isPointerTy())
      continue;
    if (Atomic) {
      access(Call, *Arg,
             Kernel.getDataLayout().getTypeStoreSize(Call.getType()),
             AccessRead | AccessWrite | AccessAtomic);
      continue;
    }
    uint8_t Kinds = AccessRead | AccessWrite;
    if (Call.onlyReadsMemory(I) || Call.onlyReadsMemory())
      Kinds = AccessRead;
    else if (Call.onlyWritesMemory(I) || Call.onlyWritesMemory())
      Kinds = AccessWrite;
    accessAll(Call, *Arg, Kinds, "is used by an intrinsic of unknown width");
  }
}

void KernelAccess::visitCopy(MemIntrinsic &Copy) {
  accessBytes(Copy, *Copy.getRawDest(), *Copy.getLength(), AccessWrite);
  if (auto *Transfer = dyn_cast<MemTransferInst>(&Copy))
    accessBytes(Copy, *Transfer->getRawSource(), *Copy.getLength(), AccessRead);
}

void KernelAccess::visitAssembly(CallBase &Call) {
  StringRef Text = cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
  // clang takes all assembly for convergent.
  if (Text.contains("bar.") || Text.contains("barrier") ||
      Text.contains("shfl") || Text.contains("vote") ||
      Text.contains("match.") || Text.contains("redux") ||
      Text.contains("activemask"))
    Flags |= KernelHasBarrier;
  if (Text.contains("exit"))
    ThreadsMayExit = true;
  if (Text.contains("trap") || Text.contains("brkpt"))
    Flags |= KernelHasPrintf;
  if (!touchesMemory(Text))
    return;
  if (auto Accesses = accessesOfAssembly(Call)) {
    for (const AssemblyAccess &A : *Accesses)
      access(Call, *A.Address, A.Width, A.Kinds, A.Offset);
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
      accessAll(Call, *Address, AccessRead | AccessWrite,
                "is accessed by inline assembly");
      Understood = true;
    } else if (Address->getType()->isIntegerTy(64) && !isa<Constant>(Address)) {
      return touchesAnything(Call, "accesses memory in inline assembly");
    }
  }
  // Addresses in shared memory have 32 bits; without one there is no address.
  if (!Understood && !Text.contains(".shared"))
    touchesAnything(Call, "accesses memory in inline assembly");
}

// -- Accesses

static void setConditions(AccessSummary &A, const Guards::Conditions &When) {
  A.Guards = When.Records;
  if (When.Loaded)
    A.Flags |= AccessConditional;
}

static bool isAssembly(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->isInlineAsm();
}

void KernelAccess::access(Instruction &I, Value &Address, uint64_t Width,
                          uint8_t Kinds, int64_t Offset) {
  if (Width == 0 || Width > UINT32_MAX)
    return accessAll(I, Address, Kinds, "is accessed with unknown width");
  const Loop *Scope = LI.getLoopFor(I.getParent());
  for (const PointerRoot &Root : findRoots(Address, SE)) {
    if (Root.What == PointerRoot::NoBuffer)
      continue;
    if (Root.What == PointerRoot::Unseen) {
      touchesAnything(I, "follows a pointer that it loads from memory, or that "
                         "it makes in a way that cannot be followed");
      continue;
    }
    const SCEV *At = Root.Offset;
    if (At && Offset)
      At = SE.getAddExpr(At,
                         SE.getConstant(At->getType(), uint64_t(Offset), true));
    FoundAccess A{{}, &I, At, {}};
    A.Summary.Flags = Kinds;
    A.Summary.Width = uint32_t(Width);
    Pointer &P = pointer(Root.From);
    if (!At) {
      A.Summary.Flags |= AccessUnbounded;
      setConditions(A.Summary, Conditions.of(*I.getParent()));
      Notes.push_back({&I, nameOf(P.From),
                       "the address is not an affine "
                       "function of the parameter"});
      P.Accesses.push_back(std::move(A));
      continue;
    }
    bool Indirect = false;
    for (Choice &C : choicesOf(*At, *I.getParent(), SE, DT, LI, Conditions)) {
      FoundAccess Chosen = A;
      Footprint::Index Index = Indices.translate(C.Offset, Scope);
      Chosen.Summary.Offset = Index.Node;
      if (Index.Loaded)
        Chosen.Summary.Flags |= AccessIndirect;
      Indirect |= Index.Loaded;
      // Assembly without side effects may be left out.
      if (Index.Exact && C.When.Exact && !Root.Sometimes && !isAssembly(I))
        Chosen.Summary.Flags |= AccessExact;
      setConditions(Chosen.Summary, C.When);
      Chosen.Taken = std::move(C.Taken);
      P.Accesses.push_back(std::move(Chosen));
    }
    if (Indirect)
      Notes.push_back({&I, nameOf(P.From), "the index is loaded from memory"});
  }
}

void KernelAccess::accessBytes(Instruction &I, Value &Address, Value &Length,
                               uint8_t Kinds) {
  if (auto *Constant = dyn_cast<ConstantInt>(&Length)) {
    if (Constant->isZero())
      return;
    return access(I, Address, Constant->getValue().getLimitedValue(), Kinds);
  }
  // Byte k of `Length` many, k = 0 .. Length - 1.
  const Loop *Scope = LI.getLoopFor(I.getParent());
  ExprPool &Pool = Indices.pool();
  for (const PointerRoot &Root : findRoots(Address, SE)) {
    if (Root.What == PointerRoot::NoBuffer)
      continue;
    if (Root.What == PointerRoot::Unseen || !Root.Offset) {
      accessAll(I, Address, Kinds, "is copied from or to");
      return;
    }
    Footprint::Index Bytes = Indices.translate(Length, Scope);
    uint32_t Wide = Pool.cast(ExprOp::ZExt, Bytes.Node, 64);
    uint32_t Counter =
        Indices.freshCounter(Pool.binary(ExprOp::Sub, Wide, Pool.constant(1)));
    Footprint::Index Start = Indices.translate(Root.Offset, Scope);
    const Guards::Conditions &When = Conditions.of(*I.getParent());
    FoundAccess A{{}, &I, nullptr, {}};
    A.Summary.Width = 1;
    A.Summary.Offset = Pool.binary(ExprOp::Add, Start.Node, Counter);
    A.Summary.Flags = Kinds;
    setConditions(A.Summary, When);
    A.Summary.Guards.push_back(
        {Pool.constant(0), Wide, NoIndex, GuardPred::ULT, {}});
    if (Start.Loaded)
      A.Summary.Flags |= AccessIndirect;
    if (Start.Exact && Bytes.Exact && When.Exact && !Root.Sometimes)
      A.Summary.Flags |= AccessExact;
    pointer(Root.From).Accesses.push_back(std::move(A));
  }
}

void KernelAccess::accessAll(Instruction &I, Value &Address, uint8_t Kinds,
                             const char *Why) {
  for (const PointerRoot &Root : findRoots(Address, SE)) {
    if (Root.What == PointerRoot::NoBuffer)
      continue;
    if (Root.What == PointerRoot::Unseen) {
      touchesAnything(I, "follows a pointer that it loads from memory, or that "
                         "it makes in a way that cannot be followed");
      continue;
    }
    FoundAccess A{{}, &I, nullptr, {}};
    A.Summary.Width = 1;
    A.Summary.Flags = Kinds | AccessUnbounded;
    setConditions(A.Summary, Conditions.of(*I.getParent()));
    Pointer &P = pointer(Root.From);
    Notes.push_back({&I, nameOf(P.From), Why});
    P.Accesses.push_back(std::move(A));
  }
}

// -- Escapes

void KernelAccess::escape(Pointer &P, Instruction &I, const char *How) {
  if (!P.Escapes)
    Notes.push_back({&I, nameOf(P.From), How});
  P.Escapes = true;
}

void KernelAccess::findEscapes(Pointer &P) {
  SmallPtrSet<Value *, 16> Seen;
  if (!P.From.Arg->hasByValAttr()) {
    findEscapes(*const_cast<Argument *>(P.From.Arg), P, Seen);
    return;
  }
  // Every load that may read the field; the structure itself may be copied.
  for (Instruction &I : instructions(Kernel)) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->getType()->isPointerTy())
      continue;
    for (const PointerRoot &Root : findRoots(*Load, SE))
      if (Root.What == PointerRoot::Parameter && Root.From == P.From)
        findEscapes(*Load, P, Seen);
  }
}

/// end - begin: a number of bytes, no address.
static bool isDifference(const Instruction &I) {
  return I.getOpcode() == Instruction::Sub &&
         isa<PtrToIntInst>(I.getOperand(0)) &&
         isa<PtrToIntInst>(I.getOperand(1));
}

void KernelAccess::findEscapes(Value &V, Pointer &P,
                               SmallPtrSetImpl<Value *> &Seen) {
  if (!Seen.insert(&V).second)
    return;
  for (User *U : V.users()) {
    auto *I = dyn_cast<Instruction>(U);
    if (!I)
      continue;
    if (isa<GetElementPtrInst, AddrSpaceCastInst, BitCastInst, PHINode,
            SelectInst, FreezeInst>(I)) {
      findEscapes(*I, P, Seen);
    } else if (auto *Store = dyn_cast<StoreInst>(I)) {
      if (Store->getValueOperand() == &V)
        escape(P, *I, "is stored in memory");
    } else if (isa<LoadInst, ICmpInst>(I)) {
      continue;
    } else if (auto *Atomic = dyn_cast<AtomicRMWInst>(I)) {
      if (Atomic->getValOperand() == &V)
        escape(P, *I, "is stored in memory");
    } else if (auto *Atomic = dyn_cast<AtomicCmpXchgInst>(I)) {
      if (Atomic->getNewValOperand() == &V)
        escape(P, *I, "is stored in memory");
    } else if (auto *Call = dyn_cast<CallBase>(I)) {
      if (Call->isInlineAsm() || isa<IntrinsicInst>(Call)) {
        // Their accesses were recorded; a result may be the pointer itself.
        if (Call->getType()->isPointerTy())
          findEscapes(*Call, P, Seen);
        continue;
      }
      const Function *Callee = Call->getCalledFunction();
      if (!Callee || Callee->isDeclaration() || Callee->isVarArg()) {
        escape(P, *I, "is passed to a function that cannot be inlined");
        continue;
      }
      for (const Use &Arg : Call->args())
        if (Arg == &V)
          findEscapes(*Callee->getArg(Call->getArgOperandNo(&Arg)), P, Seen);
    } else if (isa<PtrToIntInst>(I)) {
      // As an address for inline assembly it is looked at there; numbers that
      // become pointers again are noticed where they are followed. What
      // remains are numbers in memory.
      findEscapes(*I, P, Seen);
    } else if (isa<ReturnInst>(I)) {
      escape(P, *I, "is returned");
    } else if (isDifference(*I)) {
      continue;
    } else if (isa<BinaryOperator, CastInst>(I)) {
      findEscapes(*I, P, Seen);
    } else {
      escape(P, *I, "is used in a way that cannot be followed");
    }
  }
}

} // namespace dragon
