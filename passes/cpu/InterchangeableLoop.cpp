//===- InterchangeableLoop.cpp - a loop to be interchanged ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/InterchangeableLoop.h"

#include "dragon/CompilerABI.h"
#include "passes/cpu/ThreadContext.h"
#include "passes/support/SpinLoops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace dragon {

constexpr unsigned MaxRecomputed = 24;
/// Steps of a thread through memory that are no jump, in bytes.
constexpr uint64_t SmallStep = 32;

InterchangeableLoop::InterchangeableLoop(Function &Thread,
                                         FunctionAnalysisManager &Analyses)
    : Thread(Thread), DT(Analyses.getResult<DominatorTreeAnalysis>(Thread)),
      LI(Analyses.getResult<LoopAnalysis>(Thread)),
      SE(Analyses.getResult<ScalarEvolutionAnalysis>(Thread)) {}

bool InterchangeableLoop::analyze() {
  if (!findLoop() || !isWorthwhile())
    return false;
  findInductions();
  if (!exitsArePredictable())
    return false;
  HasState = !controlIsUniform();
  findLiveValues();
  return true;
}

bool InterchangeableLoop::recomputable(Value *V) {
  unsigned Budget = MaxRecomputed;
  return recomputable(V, Budget);
}

/// A structure by value that is only read is the same for all threads, always.
static bool isOnlyRead(const Value *Pointer) {
  return all_of(Pointer->users(), [](const User *U) {
    return isa<LoadInst>(U) || (isa<GetElementPtrInst>(U) && isOnlyRead(U));
  });
}

bool InterchangeableLoop::findLoop() {
  for (Argument &A : Thread.args())
    if (A.hasByValAttr() && !isOnlyRead(&A))
      return false;
  if (LI.getTopLevelLoops().size() != 1)
    return false;
  L = LI.getTopLevelLoops()[0];
  Exit = L->getUniqueExitBlock();
  if (!L->isLoopSimplifyForm() || !L->getLoopPreheader() || !Exit ||
      !L->isLCSSAForm(DT))
    return false;
  for (BasicBlock &Block : Thread) {
    // Variables in memory would need a copy per thread.
    for (Instruction &I : Block)
      if (isa<AllocaInst>(I) || I.isEHPad() || isa<InvokeInst>(I))
        return false;
    if (!isa<BranchInst, SwitchInst, ReturnInst, UnreachableInst>(
            Block.getTerminator()))
      return false;
  }
  return !SpinLoops(SpinLoops::Contends).find(*L, DT);
}

/// One thread's accesses are far apart from iteration to iteration.
bool InterchangeableLoop::isWorthwhile() {
  unsigned Far = 0, Near = 0;
  for (BasicBlock *Block : L->blocks())
    for (Instruction &I : *Block) {
      Value *Pointer = getLoadStorePointerOperand(&I);
      if (!Pointer || L->isLoopInvariant(Pointer))
        continue;
      const SCEV *Address = SE.getSCEV(Pointer);
      bool Moves = false, Close = false;
      SCEVExprContains(Address, [&](const SCEV *Part) {
        auto *AddRec = dyn_cast<SCEVAddRecExpr>(Part);
        if (!AddRec || AddRec->getLoop() != L)
          return false;
        Moves = true;
        auto *Step = dyn_cast<SCEVConstant>(AddRec->getStepRecurrence(SE));
        Close = Step && Step->getAPInt().abs().ule(SmallStep);
        return true;
      });
      Far += Moves && !Close;
      Near += Moves && Close;
    }
  return Far > 0 && Far >= Near;
}

void InterchangeableLoop::findInductions() {
  BasicBlock *Preheader = L->getLoopPreheader(), *Latch = L->getLoopLatch();
  for (PHINode &Phi : L->getHeader()->phis()) {
    auto *Next = dyn_cast<BinaryOperator>(Phi.getIncomingValueForBlock(Latch));
    bool Down = Next && Next->getOpcode() == Instruction::Sub;
    if (Next && (Down || Next->getOpcode() == Instruction::Add)) {
      Value *Step = Next->getOperand(0) == &Phi            ? Next->getOperand(1)
                    : Next->getOperand(1) == &Phi && !Down ? Next->getOperand(0)
                                                           : nullptr;
      if (Step && L->isLoopInvariant(Step)) {
        Inductions[&Phi] = {Phi.getIncomingValueForBlock(Preheader), Step,
                            Down};
        continue;
      }
    }
    OtherPhis.push_back(&Phi);
  }
}

/// A field of the context other than the thread's index, or of a structure by
/// value (which is only read, see findLoop).
bool InterchangeableLoop::readsConstantMemory(const LoadInst &Load) {
  APInt Offset(64, 0);
  const Value *Base =
      Load.getPointerOperand()->stripAndAccumulateConstantOffsets(
          Thread.getDataLayout(), Offset, /*AllowNonInbounds=*/true);
  auto *From = dyn_cast<Argument>(Base);
  if (!From || Load.isVolatile())
    return false;
  if (From->hasByValAttr())
    return true;
  return From->getArgNo() == Thread.arg_size() - ThreadContext::NumParameters &&
         Offset.uge(offsetof(dragon_cpu_context, ctaid)) &&
         Offset.ult(offsetof(dragon_cpu_context, block));
}

/// V can be computed again from the thread's arguments, anywhere.
bool InterchangeableLoop::recomputable(Value *V, unsigned &Budget) {
  if (isa<Constant, Argument>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Budget == 0 || I->getType()->isVoidTy())
    return false;
  --Budget;
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    if (!readsConstantMemory(*Load))
      return false;
  } else if (auto *Call = dyn_cast<CallBase>(I)) {
    if (!Call->getCalledFunction() ||
        !Call->getCalledFunction()->isIntrinsic() ||
        Call->mayReadOrWriteMemory())
      return false;
  } else if (!isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst,
                  SelectInst, UnaryOperator, FreezeInst>(I)) {
    return false;
  }
  return all_of(I->operands(), [&](Value *Operand) {
    return isa<Function>(Operand) || recomputable(Operand, Budget);
  });
}

/// V is computed from induction variables and what can be recomputed.
bool InterchangeableLoop::dependsOnInductionsOnly(Value *V, unsigned Depth) {
  if (auto *Phi = dyn_cast<PHINode>(V);
      Phi && Phi->getParent() == L->getHeader()) {
    auto Found = Inductions.find(Phi);
    return Found != Inductions.end() && recomputable(Found->second.Initial) &&
           recomputable(Found->second.Step);
  }
  if (L->isLoopInvariant(V))
    return recomputable(V);
  auto *I = dyn_cast<Instruction>(V);
  return I && Depth < 6 &&
         isa<BinaryOperator, CastInst, CmpInst, SelectInst>(I) &&
         all_of(
             I->operands(),
             [&](Value *Operand) {
               return dependsOnInductionsOnly(Operand, Depth + 1);
             });
}

bool InterchangeableLoop::exitsArePredictable() {
  SmallVector<BasicBlock *, 4> Exiting;
  L->getExitingBlocks(Exiting);
  return all_of(Exiting, [&](BasicBlock *Block) {
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    return Branch && Branch->isConditional() &&
           dependsOnInductionsOnly(Branch->getCondition());
  });
}

/// V is the same for all threads of a block in the same iteration.
bool InterchangeableLoop::isUniform(Value *V, unsigned Depth) {
  if (isa<Constant>(V))
    return true;
  if (auto *A = dyn_cast<Argument>(V)) {
    unsigned First = Thread.arg_size() - ThreadContext::NumParameters;
    return A->getArgNo() <= First; // the thread's index comes after
  }
  if (auto *Phi = dyn_cast<PHINode>(V)) {
    auto Found = Inductions.find(Phi);
    return Found != Inductions.end() && Depth < 8 &&
           isUniform(Found->second.Initial, Depth + 1) &&
           isUniform(Found->second.Step, Depth + 1);
  }
  auto *I = dyn_cast<Instruction>(V);
  return I && Depth < 8 && (L->contains(I) || recomputable(I)) &&
         all_of(
             I->operands(),
             [&](Value *Operand) {
               return isa<Function>(Operand) || isUniform(Operand, Depth + 1);
             });
}

bool InterchangeableLoop::controlIsUniform() {
  // The loop is reached by all.
  for (BasicBlock *Block = &Thread.getEntryBlock();
       Block != L->getLoopPreheader();) {
    Block = Block->getUniqueSuccessor();
    if (!Block)
      return false;
  }
  SmallVector<BasicBlock *, 4> Exiting;
  L->getExitingBlocks(Exiting);
  // One exit: with more, threads may leave by different ones in an iteration.
  return Exiting.size() == 1 &&
         isUniform(
             cast<BranchInst>(Exiting[0]->getTerminator())->getCondition());
}

void InterchangeableLoop::findLiveValues() {
  SmallVector<BasicBlock *, 8> Worklist{Exit};
  while (!Worklist.empty()) {
    BasicBlock *Block = Worklist.pop_back_val();
    if (AfterBlocks.insert(Block).second)
      append_range(Worklist, successors(Block));
  }
  for (Instruction &I : instructions(Thread)) {
    if (L->contains(&I))
      continue;
    for (Use &U : I.uses()) {
      auto *User = cast<Instruction>(U.getUser());
      BasicBlock *Where = User->getParent();
      if (auto *Phi = dyn_cast<PHINode>(User))
        Where = Phi->getIncomingBlock(U);
      if (L->contains(User) && !is_contained(OtherPhis, User) &&
          !(isa<PHINode>(User) && Inductions.contains(cast<PHINode>(User))))
        LiveInLoop.insert(&I);
      if (L->contains(Where) && !L->contains(User))
        LiveInLoop.insert(&I); // handed to a phi of the exit
      if (AfterBlocks.contains(Where) && !AfterBlocks.contains(I.getParent()))
        LiveAfter.insert(&I);
    }
  }
  for (auto &[Phi, Variable] : Inductions) {
    if (isa<Instruction>(Variable.Initial))
      LiveInLoop.insert(Variable.Initial);
    if (isa<Instruction>(Variable.Step))
      LiveInLoop.insert(Variable.Step);
  }
  for (PHINode &Phi : Exit->phis())
    ExitPhis.push_back(&Phi);
  for (Value *V : LiveInLoop)
    if (!recomputable(V))
      save(V);
  for (Value *V : LiveAfter)
    if (!recomputable(V))
      save(V);
  for (PHINode *Phi : OtherPhis)
    save(Phi);
  for (PHINode *Phi : ExitPhis)
    save(Phi);
}

} // namespace dragon
