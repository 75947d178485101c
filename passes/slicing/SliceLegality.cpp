//===- SliceLegality.cpp - may blocks run in separate launches ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/SliceLegality.h"

#include "passes/support/ExtraParameters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned SharedAddressSpace = 3;
/// What CUDA allows for the parameters of a kernel, in bytes.
constexpr uint64_t MaxParameterBytes = 32764;

/// " (file.cu:12)" if the place is known.
std::string place(const Instruction &I) {
  const DebugLoc &Loc = I.getDebugLoc();
  if (!Loc)
    return "";
  StringRef File = Loc->getFilename();
  return (" (" + File.substr(File.rfind('/') + 1) + ":" + Twine(Loc.getLine()) +
          ")")
      .str();
}

/// PTX in which a launch of a part of the grid would look different.
const char *asmObstacle(StringRef Asm) {
  if (Asm.contains("%ctaid") || Asm.contains("%nctaid"))
    return "reads the block's position in inline assembly";
  if (Asm.contains("%envreg"))
    return "uses cooperative grid synchronisation";
  if (Asm.contains("%gridid"))
    return "reads %gridid in inline assembly";
  if (Asm.contains("%cluster") || Asm.contains("%nclusterid") ||
      Asm.contains("%is_explicit_cluster") || Asm.contains("barrier.cluster") ||
      Asm.contains("clusterlaunchcontrol") || Asm.contains("mapa."))
    return "uses thread block clusters";
  if (Asm.contains("griddepcontrol"))
    return "uses programmatic dependent launch";
  return nullptr;
}

const char *intrinsicObstacle(Intrinsic::ID ID) {
  StringRef Name = Intrinsic::getBaseName(ID);
  if (!Name.consume_front("llvm.nvvm."))
    return nullptr;
  if (Name.starts_with("read.ptx.sreg.envreg"))
    return "uses cooperative grid synchronisation";
  if (Name == "read.ptx.sreg.gridid")
    return "reads %gridid";
  if (Name.starts_with("read.ptx.sreg.cluster") ||
      Name.starts_with("read.ptx.sreg.nclusterid") ||
      Name.starts_with("barrier.cluster") || Name.starts_with("mapa") ||
      Name.starts_with("getctarank") ||
      Name.starts_with("is.explicit.cluster") ||
      Name.starts_with("clusterlaunchcontrol"))
    return "uses thread block clusters";
  if (Name.starts_with("griddepcontrol"))
    return "uses programmatic dependent launch";
  return nullptr;
}

/// Functions of CUDA's device library that know nothing of the grid.
bool isHarmlessDeclaration(const Function &F) {
  StringRef Name = F.getName();
  return F.isIntrinsic() || Name.starts_with("__nv_") ||
         Name == "__nvvm_reflect" || Name == "vprintf" || Name == "malloc" ||
         Name == "free" || Name == "__assertfail" || Name == "memcpy" ||
         Name == "memset" || Name == "memmove";
}

std::string declarationObstacle(const Function &F) {
  StringRef Name = F.getName();
  if (isHarmlessDeclaration(F))
    return "";
  if (Name.starts_with("cudaCG"))
    return "uses cooperative grid synchronisation";
  if (Name.starts_with("cuda") || Name.starts_with("__cuda"))
    return ("calls '" + Name + "' of the device runtime (dynamic parallelism)")
        .str();
  return ("calls '" + Name + "', whose code is in another translation unit")
      .str();
}

bool mayBeGlobalMemory(const Value *Pointer) {
  const Value *Object = getUnderlyingObject(Pointer, 0);
  if (isa<AllocaInst>(Object))
    return false;
  auto *Type = dyn_cast<PointerType>(Object->getType());
  return !Type || Type->getAddressSpace() != SharedAddressSpace;
}

/// Finds loops that wait for what other blocks write.
class SpinFinder {
public:
  /// The load that some loop of F waits for, or null.
  const Instruction *find(Function &F);

private:
  bool observes(const Instruction &I);
  bool observes(Function &F);
  bool exitDependsOnObservation(const Loop &L, const DominatorTree &DT,
                                const Instruction *&Which);

  DenseMap<const Function *, bool> Known;
};

/// I reads memory that another block may be changing at this time, and leaves
/// it as it is.
bool SpinFinder::observes(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return (Load->isVolatile() || Load->isAtomic()) &&
           mayBeGlobalMemory(Load->getPointerOperand());
  if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I)) {
    auto *Operand = dyn_cast<ConstantInt>(Rmw->getValOperand());
    if (!Operand || !mayBeGlobalMemory(Rmw->getPointerOperand()))
      return false;
    switch (Rmw->getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::UMax:
      return Operand->isZero();
    case AtomicRMWInst::And:
    case AtomicRMWInst::UMin:
      return Operand->isMinusOne();
    default:
      return false;
    }
  }
  if (auto *Cas = dyn_cast<AtomicCmpXchgInst>(&I))
    return Cas->getCompareOperand() == Cas->getNewValOperand() &&
           mayBeGlobalMemory(Cas->getPointerOperand());
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
    StringRef Text = Asm->getAsmString();
    return !Text.contains(".shared") &&
           (Text.contains("ld.volatile") || Text.contains("ld.acquire") ||
            Text.contains("ld.relaxed") || Text.contains("ld.mmio"));
  }
  if (Function *Callee = Call->getCalledFunction())
    return observes(*Callee);
  return false;
}

bool SpinFinder::observes(Function &F) {
  auto [Entry, New] = Known.try_emplace(&F, false);
  if (!New)
    return Entry->second;
  for (Instruction &I : instructions(F))
    if (observes(I))
      return Known[&F] = true;
  return false;
}

bool SpinFinder::exitDependsOnObservation(const Loop &L,
                                          const DominatorTree &DT,
                                          const Instruction *&Which) {
  SmallVector<const Value *, 16> Worklist;
  SmallPtrSet<const Value *, 32> Seen;
  auto Push = [&](const Value *V) {
    if (auto *I = dyn_cast<Instruction>(V);
        I && L.contains(I) && Seen.insert(I).second)
      Worklist.push_back(I);
  };
  auto PushCondition = [&](const BasicBlock *Block) {
    const Instruction *End = Block->getTerminator();
    if (auto *Branch = dyn_cast<BranchInst>(End)) {
      if (Branch->isConditional())
        Push(Branch->getCondition());
    } else if (auto *Switch = dyn_cast<SwitchInst>(End)) {
      Push(Switch->getCondition());
    }
  };
  // What decides whether Block is reached within an iteration.
  auto PushGuards = [&](const BasicBlock *Block) {
    for (const DomTreeNode *Node = DT.getNode(Block);
         Node && L.contains(Node->getBlock()); Node = Node->getIDom())
      PushCondition(Node->getBlock());
  };

  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  for (BasicBlock *Block : Exiting)
    PushCondition(Block);
  while (!Worklist.empty()) {
    auto *I = cast<Instruction>(Worklist.pop_back_val());
    if (observes(*I)) {
      Which = I;
      return true;
    }
    for (const Value *Operand : I->operands())
      Push(Operand);
    if (auto *Phi = dyn_cast<PHINode>(I)) {
      for (const BasicBlock *Incoming : Phi->blocks())
        PushGuards(Incoming);
    } else if (auto *Load = dyn_cast<LoadInst>(I)) {
      // A local variable in unoptimised code: what is stored to it.
      if (auto *Variable = dyn_cast<AllocaInst>(
              Load->getPointerOperand()->stripPointerCasts()))
        for (const User *U : Variable->users())
          if (auto *Store = dyn_cast<StoreInst>(U);
              Store && L.contains(Store)) {
            Push(Store->getValueOperand());
            PushGuards(Store->getParent());
          }
    }
  }
  return false;
}

const Instruction *SpinFinder::find(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  const Instruction *Which = nullptr;
  for (Loop *L : LI.getLoopsInPreorder())
    if (exitDependsOnObservation(*L, DT, Which))
      return Which;
  // A loop within one piece of assembly.
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
          Asm && StringRef(Asm->getAsmString()).contains("bra") && observes(I))
        return &I;
  return nullptr;
}

/// A function that a call through a pointer may reach and that stands in the
/// way, or null.
Function *obstacleBehindPointers(Module &M) {
  auto InTheWay = [](Instruction &I) {
    if (readsGridPosition(I))
      return true;
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call)
      return false;
    if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
      return asmObstacle(Asm->getAsmString()) != nullptr;
    Function *Callee = Call->getCalledFunction();
    return Callee && Callee->isDeclaration() &&
           (intrinsicObstacle(Callee->getIntrinsicID()) ||
            !declarationObstacle(*Callee).empty());
  };
  auto Affected = functionsThatNeed(M, InTheWay);
  for (Function &F : M)
    if (!F.isIntrinsic() && addressIsTaken(F) &&
        (F.isDeclaration() || Affected.contains(&F)))
      return &F;
  return nullptr;
}

} // namespace

bool readsGridPosition(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    return true;
  default:
    return false;
  }
}

std::string sliceCloneName(StringRef Kernel) {
  return ("__dragon_slice_" + Kernel).str();
}

SliceLegality checkSliceLegality(Function &Kernel) {
  SliceLegality Result;
  auto Refuse = [&](const Twine &Reason) {
    Result.Sliceable = false;
    Result.Reason = Reason.str();
    return Result;
  };
  if (Kernel.isDeclaration())
    return Refuse("its code is in another translation unit");
  if (Kernel.hasFnAttribute("nvvm.cluster_dim") ||
      Kernel.hasFnAttribute("nvvm.maxclusterrank"))
    return Refuse("uses thread block clusters");

  Module &M = *Kernel.getParent();
  bool Indirect = false;
  SetVector<Function *> Reached = reachableFunctions(Kernel, &Indirect);
  SpinFinder Spins;
  for (Function *F : Reached) {
    for (Instruction &I : instructions(*F)) {
      Result.NeedsClone |= readsGridPosition(I);
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
        if (const char *Why = asmObstacle(Asm->getAsmString()))
          return Refuse(Why + place(I));
        continue;
      }
      Function *Callee = Call->getCalledFunction();
      if (!Callee || !Callee->isDeclaration())
        continue;
      if (const char *Why = intrinsicObstacle(Callee->getIntrinsicID()))
        return Refuse(Why + place(I));
      if (std::string Why = declarationObstacle(*Callee); !Why.empty())
        return Refuse(Why + place(I));
    }
    if (const Instruction *Load = Spins.find(*F))
      return Refuse("waits in a loop for what another block writes" +
                    place(*Load));
  }
  if (Indirect)
    if (Function *Target = obstacleBehindPointers(M))
      return Refuse("calls through a pointer, which may reach '" +
                    Target->getName() +
                    "' (reads the block's position, or is unknown here)");
  if (Result.NeedsClone) {
    uint64_t Bytes = 6 * sizeof(uint32_t);
    for (Argument &A : Kernel.args())
      Bytes += M.getDataLayout().getTypeAllocSize(
          A.hasByValAttr() ? A.getParamByValType() : A.getType());
    if (Bytes > MaxParameterBytes)
      return Refuse("its parameters leave no room for the block offset");
  }
  Result.Sliceable = true;
  return Result;
}

SliceDecisions checkSliceLegality(Module &M) {
  SliceDecisions Result;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::PTX_Kernel && !F.isDeclaration())
      Result[F.getName()] = checkSliceLegality(F);
  return Result;
}

} // namespace dragon
