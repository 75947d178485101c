//===- LoopLegality.cpp - may a loop run in separate launches -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopLegality.h"

#include "passes/slicing/LocalVariables.h"
#include "passes/support/DeviceFunctions.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/UsedGlobals.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr const char *ReadsWhatMayChange =
    "what is in front of it reads memory that the kernel may change";
constexpr const char *WritesMemory =
    "what may be in front of it or behind it writes memory";

/// A thread keeps no more variables than those.
constexpr uint64_t MostLocalBytes = 512;

bool holdsAddresses(Type &T) {
  return T.isPtrOrPtrVectorTy() ||
         any_of(T.subtypes(), [](Type *Part) { return holdsAddresses(*Part); });
}

/// It is only read, through addresses that are made of it here.
bool isOnlyRead(const Value &Address) {
  return all_of(Address.users(), [](const User *By) {
    return isa<LoadInst>(By) ||
           ((isa<GetElementPtrInst>(By) || isa<AddrSpaceCastInst>(By)) &&
            isOnlyRead(*By));
  });
}

/// A parameter's own memory, or a constant.
bool neverChanges(const Value &Object) {
  if (const auto *Arg = dyn_cast<Argument>(&Object))
    return Arg->hasByValAttr() && isOnlyRead(*Arg);
  const auto *Variable = dyn_cast<GlobalVariable>(&Object);
  return Variable &&
         (Variable->isConstant() ||
          Variable->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST);
}

/// Barriers, and exchanges of values within a warp.
bool isCooperation(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isIntrinsic())
    return false;
  StringRef Name = Callee->getName();
  return Name.consume_front("llvm.nvvm.") &&
         (Name.starts_with("barrier") || Name.starts_with("bar.") ||
          Name.starts_with("shfl") || Name.starts_with("vote") ||
          Name.starts_with("match") || Name.starts_with("redux") ||
          Name.starts_with("membar"));
}

/// It may give something else in each launch, whatever memory holds.
bool variesByLaunch(const CallBase &Call) {
  StringRef Text;
  if (const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    Text = Asm->getAsmString();
  else if (const Function *Callee = Call.getCalledFunction();
           Callee && Callee->isIntrinsic())
    Text = Callee->getName();
  for (StringRef Varying : {"smid", "warpid", "clock", "globaltimer",
                            "activemask", "sreg.pm", "%pm"})
    if (Text.contains(Varying))
      return true;
  return false;
}

bool mayEndThreads(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
    return StringRef(Asm->getAsmString()).contains("exit");
  return Call->getIntrinsicID() == Intrinsic::nvvm_exit;
}

/// A mathematical function that has its result as its only one.
bool isOfNumbers(const Function &Callee) {
  if (!Callee.isDeclaration() || Callee.getName() == "__nvvm_reflect")
    return Callee.isDeclaration();
  return isMathFunction(Callee.getName()) &&
         none_of(Callee.args(), [](const Argument &Arg) {
           return Arg.getType()->isPointerTy();
         });
}

/// All that the address may be of.
SmallVector<const Value *, 4> objectsOf(const Value *Address) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Address, Objects);
  return Objects;
}

/// Calls that can be made again in each launch: they compute, and use no memory
/// but the thread's, and perhaps the block's and what can be read again.
class Recomputed {
public:
  using Predicate = function_ref<bool(const Value &)>;
  /// `MayRead`, `MayWrite`: of the kernel's objects, beside the thread's
  /// variables. `Together`: by all threads that made the calls before.
  Recomputed(bool Together, Predicate MayRead, Predicate MayWrite)
      : Together(Together), MayRead(MayRead), MayWrite(MayWrite) {}

  bool is(const CallBase &Call) { return isCall(Call, nullptr); }

private:
  using Objects = SmallVector<const Value *, 4>;
  /// A function, and what of the kernel its parameters lead to.
  struct Frame {
    const Function &F;
    SmallVector<Objects, 4> Parameters;
    const Frame *Caller;
  };
  static Objects resolve(const Value *Address, const Frame *In) {
    Objects Found;
    for (const Value *Object : objectsOf(Address)) {
      const auto *Arg = In ? dyn_cast<Argument>(Object) : nullptr;
      if (Arg && !Arg->hasByValAttr())
        append_range(Found, In->Parameters[Arg->getArgNo()]);
      else
        Found.push_back(Object);
    }
    return Found;
  }
  static bool isOfThread(const Value &Object) {
    const auto *Arg = dyn_cast<Argument>(&Object);
    return isa<AllocaInst>(Object) || (Arg && Arg->hasByValAttr());
  }
  bool canRead(const Value *Address, const Frame &In) const {
    return all_of(resolve(Address, &In), [this](const Value *Object) {
      return isOfThread(*Object) || MayRead(*Object);
    });
  }
  bool canWrite(const Value *Address, const Frame &In) const {
    return all_of(resolve(Address, &In), [this](const Value *Object) {
      return isOfThread(*Object) || MayWrite(*Object);
    });
  }
  bool isCall(const CallBase &Call, const Frame *In) {
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || Callee->isDeclaration() || Callee->isVarArg() ||
        Callee->getFunctionType() != Call.getFunctionType())
      return false;
    for (const Frame *Outer = In; Outer; Outer = Outer->Caller)
      if (&Outer->F == Callee)
        return false;
    Frame Inner{*Callee, {}, In};
    Inner.Parameters.resize(Callee->arg_size());
    for (unsigned I = 0; I < Callee->arg_size(); ++I)
      if (Call.getArgOperand(I)->getType()->isPointerTy())
        Inner.Parameters[I] = resolve(Call.getArgOperand(I), In);
    return all_of(instructions(*Callee), [&](const Instruction &I) {
      return isInstruction(I, Inner);
    });
  }
  bool isInstruction(const Instruction &I, const Frame &In) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (!Call) {
      const auto *Load = dyn_cast<LoadInst>(&I);
      const auto *Store = dyn_cast<StoreInst>(&I);
      return !I.mayReadOrWriteMemory() ||
             (Load && Load->isSimple() &&
              canRead(Load->getPointerOperand(), In)) ||
             (Store && Store->isSimple() &&
              canWrite(Store->getPointerOperand(), In));
    }
    if (variesByLaunch(*Call))
      return false;
    if (isCooperation(*Call))
      return Together;
    if (const auto *Memory = dyn_cast<MemIntrinsic>(Call)) {
      const auto *Transfer = dyn_cast<MemTransferInst>(Memory);
      return canWrite(Memory->getRawDest(), In) &&
             (!Transfer || canRead(Transfer->getRawSource(), In));
    }
    const Function *Callee = Call->getCalledFunction();
    if (Callee && !Callee->isDeclaration())
      return isCall(*Call, &In);
    const auto *Intrinsic = dyn_cast<IntrinsicInst>(Call);
    return !Call->mayReadOrWriteMemory() || (Callee && isOfNumbers(*Callee)) ||
           (Intrinsic && Intrinsic->isAssumeLikeIntrinsic());
  }

  const bool Together;
  const Predicate MayRead, MayWrite;
};

} // namespace

/// The loop is left at its head, and a thread that has left it can ask again.
bool LoopLegality::canAskAgain() {
  const BasicBlock *Head = L.getHeader();
  if (L.getExitingBlock() != Head || L.isLoopLatch(Head) ||
      !isa<BranchInst>(Head->getTerminator()))
    return false;
  auto Never = [](const Value &) { return false; };
  return all_of(*Head, [&](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (Call && Recomputed(/*Together=*/false, Never, Never).is(*Call))
      return true;
    if (Call && (Call->isConvergent() || variesByLaunch(*Call)))
      return false;
    const auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->isSimple())
      return !I.mayReadOrWriteMemory();
    // Variables of the thread are as it left them.
    const Value *Object = getUnderlyingObject(Load->getPointerOperand());
    return isa<AllocaInst>(Object) || neverChanges(*Object);
  });
}

const char *LoopLegality::structureObstacle() {
  if (L.getParentLoop())
    return "it is inside of another loop";
  RemembersExit = !canAskAgain();
  if (!RemembersExit)
    return nullptr;
  Blocks = withWaysOut(L);
  return obstacleToLeaveAtHead(L, Blocks, DT);
}

const char *LoopLegality::stateObstacle() {
  uint64_t LocalBytes = 0;
  LocalVariables Variables(L, Blocks, DT);
  for (Instruction &I : instructions(Kernel))
    if (auto *Local = dyn_cast<AllocaInst>(&I)) {
      if (!Variables.goesOn(*Local))
        continue;
      const auto Bytes = Local->getAllocationSize(Kernel.getDataLayout());
      if (!Local->isStaticAlloca() || !Bytes || Bytes->isScalable() ||
          holdsAddresses(*Local->getAllocatedType()))
        return "a variable in local memory may hold addresses";
      LocalBytes += *Bytes;
      Locals.push_back(Local);
    }
  if (LocalBytes > MostLocalBytes)
    return "the kernel has much local memory";
  for (Function *F : reachableFunctions(Kernel))
    if (any_of(instructions(*F), mayEndThreads))
      return "a thread may end anywhere";
  for (const PHINode &Phi : L.getHeader()->phis())
    if (!canBeKept(Phi))
      return "a pointer that it moves, or a value, cannot be kept for the next "
             "launch";
  return nullptr;
}

/// Of the kernel's memory it can be read in each launch.
bool LoopLegality::staysTheSame(const Value &Object) {
  if (neverChanges(Object) || isOwn(Object))
    return true;
  const auto *Arg = dyn_cast<Argument>(&Object);
  const PointerSummary *Pointer =
      Arg ? Summary.pointer(Arg->getArgNo()) : nullptr;
  if (!Pointer || Pointer->Mode != AccessMode::Read)
    return false;
  NeedsDistinct = true;
  return true;
}

const char *LoopLegality::obstacleInLoad(const Value &Address) {
  return all_of(objectsOf(&Address),
                [this](const Value *Object) { return staysTheSame(*Object); })
             ? nullptr
             : ReadsWhatMayChange;
}

const char *LoopLegality::obstacleInCall(CallBase &Call) {
  constexpr const char *Unknown =
      "what is in front of it calls a function that may do more than compute";
  if (variesByLaunch(Call))
    return "what is in front of it reads a clock, or where the thread runs";
  if (Call.isInlineAsm())
    return Call.mayReadOrWriteMemory()
               ? "what is in front of it is inline assembly"
               : nullptr;
  Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return Unknown;
  if (auto *Copy = dyn_cast<MemIntrinsic>(&Call)) {
    const auto *Transfer = dyn_cast<MemTransferInst>(Copy);
    return isOwn(*getUnderlyingObject(Copy->getRawDest()))
               ? (Transfer ? obstacleInLoad(*Transfer->getRawSource())
                           : nullptr)
               : WritesMemory;
  }
  const auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call);
  if (isCooperation(Call) || (Intrinsic && Intrinsic->isAssumeLikeIntrinsic()))
    return nullptr;
  if (!Callee->isDeclaration())
    return Recomputed(
               /*Together=*/true,
               [this](const Value &Object) { return staysTheSame(Object); },
               isShared)
                   .is(Call)
               ? nullptr
               : Unknown;
  return isOfNumbers(*Callee) || !Call.mayReadOrWriteMemory() ? nullptr
                                                              : Unknown;
}

/// Of code that runs in each launch, or in the first one alone.
const char *LoopLegality::obstacleInFront(Instruction &I, bool MayBeBehind) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call && (!I.mayReadOrWriteMemory() || isa<FenceInst>(I)))
    return nullptr;
  const char *Why = WritesMemory;
  bool CanBeOnce = !MayBeBehind;
  if (Call) {
    const auto *Memory = dyn_cast<MemIntrinsic>(Call);
    Why = obstacleInCall(*Call);
    CanBeOnce &= Memory ? !isOwn(*getUnderlyingObject(Memory->getRawDest()))
                        : FirstLaunch::isForBuffersAlone(*Call);
  } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
    Why = Load->isAtomic() ? ReadsWhatMayChange
                           : obstacleInLoad(*Load->getPointerOperand());
    CanBeOnce &= Load->isSimple();
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    if (isOwn(*getUnderlyingObject(Store->getPointerOperand())))
      return nullptr;
  } else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I)) {
    // Threads come in another order each time.
    if (!Atomic->use_empty())
      return "what is in front of it depends on the order of threads";
    if (isOwn(*getUnderlyingObject(Atomic->getPointerOperand())))
      return nullptr;
  } else {
    CanBeOnce = false;
  }
  if (!Why || !CanBeOnce)
    return Why;
  Once.add(I);
  return nullptr;
}

void LoopLegality::addShared(BasicBlock &Block) {
  auto AddOf = [&](const Instruction &I) {
    for (GlobalVariable *Variable : variablesOf(I))
      if (isShared(*Variable))
        Shared.insert(Variable);
  };
  for (const Instruction &I : Block) {
    AddOf(I);
    const auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && !Callee->isDeclaration())
      for (Function *F : reachableFunctions(*Callee))
        for_each(instructions(*F), AddOf);
  }
}

/// What is used behind the loop alone has no contents before.
void LoopLegality::findShared() {
  for (BasicBlock &Block : Kernel)
    if (Blocks.contains(&Block) || !DT.dominates(L.getHeader(), &Block))
      addShared(Block);
}

std::string LoopLegality::whyNot() {
  if (const char *Why = structureObstacle())
    return Why;
  if (const char *Why = stateObstacle())
    return Why;
  for (BasicBlock &Block : Kernel) {
    if (!DT.isReachableFromEntry(&Block) || DT.dominates(L.getHeader(), &Block))
      continue;
    const bool MayBeBehind =
        isPotentiallyReachable(L.getHeader(), &Block, nullptr, &DT);
    for (Instruction &I : Block)
      if (const char *Why = obstacleInFront(I, MayBeBehind))
        return Why;
  }
  if (!Once.canGoOn())
    return ReadsWhatMayChange;
  findShared();
  // All threads of a block keep its shared memory together.
  if (!Shared.empty() && !PostDominatorTree(Kernel).dominates(
                             L.getHeader(), &Kernel.getEntryBlock()))
    return "the block has shared memory, and some of its threads may not come "
           "to the loop";
  return "";
}

} // namespace dragon
