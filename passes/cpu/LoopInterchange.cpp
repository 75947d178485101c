//===- LoopInterchange.cpp - threads inside a kernel's loop ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/LoopInterchange.h"

#include "passes/cpu/InterchangeableLoop.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned MaxSaved = 12;

class Interchange : private InterchangeableLoop {
public:
  using InterchangeableLoop::InterchangeableLoop;

  std::optional<InterchangedThread> run();

private:
  Function *cloneThread(const Twine &Name, bool IsIteration,
                        ValueToValueMapTy &Map);
  Value *slot(Function &F, unsigned I) {
    return F.getArg(F.arg_size() - Saved.size() - HasState + I);
  }
  Value *stateSlot(Function &F) { return F.getArg(F.arg_size() - 1); }
  void setState(IRBuilder<> &B, Function &F, LoopState State);
  BasicBlock *beginAt(Function &F, LoopState State, Value *Otherwise);
  Value *recompute(Value *V, IRBuilder<> &B, ValueToValueMapTy &Map,
                   DenseMap<Value *, Value *> &Done, Function &F);
  Function *makeBefore();
  Function *makeIteration();
  Function *makeAfter();
};

Function *Interchange::cloneThread(const Twine &Name, bool IsIteration,
                                   ValueToValueMapTy &Map) {
  LLVMContext &C = Thread.getContext();
  SmallVector<Type *, 8> Types;
  SmallVector<StringRef, 8> Names;
  if (IsIteration) {
    Types.push_back(Type::getInt64Ty(C));
    Names.push_back("dragon.iteration");
  }
  for (unsigned I = 0; I < Saved.size() + HasState; ++I) {
    Types.push_back(PointerType::get(C, 0));
    Names.push_back(I < Saved.size() ? "dragon.saved" : "dragon.state");
  }
  Function *F = cloneWithExtraParameters(Thread, Types, Names,
                                         Thread.getName() + Name, &Map);
  return F;
}

void Interchange::setState(IRBuilder<> &B, Function &F, LoopState State) {
  if (HasState)
    B.CreateStore(B.getInt8(static_cast<uint8_t>(State)), stateSlot(F));
}

/// A new entry of F, which returns `Otherwise` if the thread's state is another
/// one. Ends open.
BasicBlock *Interchange::beginAt(Function &F, LoopState State,
                                 Value *Otherwise) {
  BasicBlock *Entry =
      BasicBlock::Create(F.getContext(), "resume", &F, &F.getEntryBlock());
  if (!HasState)
    return Entry;
  BasicBlock *Resume =
      BasicBlock::Create(F.getContext(), "resumed", &F, Entry->getNextNode());
  BasicBlock *Skip = BasicBlock::Create(F.getContext(), "skip", &F);
  IRBuilder<> B(Entry);
  Value *Current = B.CreateLoad(B.getInt8Ty(), stateSlot(F));
  B.CreateCondBr(
      B.CreateICmpEQ(Current, B.getInt8(static_cast<uint8_t>(State))), Resume,
      Skip);
  B.SetInsertPoint(Skip);
  if (Otherwise)
    B.CreateRet(Otherwise);
  else
    B.CreateRetVoid();
  return Resume;
}

/// V of the original as a value of F: loaded if it was saved, else recomputed.
Value *Interchange::recompute(Value *V, IRBuilder<> &B, ValueToValueMapTy &Map,
                              DenseMap<Value *, Value *> &Done, Function &F) {
  if (isa<Constant>(V))
    return V;
  if (isa<Argument>(V))
    return Map[V];
  Value *&Known = Done[V];
  if (Known)
    return Known;
  if (Saved.contains(V)) {
    unsigned I = std::distance(Saved.begin(), find(Saved, V));
    return Known = B.CreateLoad(V->getType(), slot(F, I));
  }
  auto *Old = cast<Instruction>(V);
  SmallVector<Value *, 4> Operands;
  for (Value *Operand : Old->operands())
    Operands.push_back(recompute(Operand, B, Map, Done, F));
  Instruction *New = Old->clone();
  for (unsigned I = 0; I < Operands.size(); ++I)
    New->setOperand(I, Operands[I]);
  New->setDebugLoc(DebugLoc());
  B.Insert(New);
  return Done[V] = New;
}

Function *Interchange::makeBefore() {
  ValueToValueMapTy Map;
  Function *F = cloneThread(".before", false, Map);
  auto Now = [&](Value *V) -> Value * {
    return isa<Constant>(V) ? V : static_cast<Value *>(Map[V]);
  };
  BasicBlock *Preheader = L->getLoopPreheader();
  auto *End = cast<BasicBlock>(Map[Preheader])->getTerminator();
  IRBuilder<> B(End);
  for (auto [I, V] : enumerate(Saved)) {
    if (auto *Phi = dyn_cast<PHINode>(V);
        Phi && Phi->getParent() == L->getHeader())
      B.CreateStore(Now(Phi->getIncomingValueForBlock(Preheader)), slot(*F, I));
    else if (!is_contained(ExitPhis, V))
      B.CreateStore(Now(V), slot(*F, I));
  }
  setState(B, *F, LoopState::InLoop);
  B.CreateRetVoid();
  End->eraseFromParent();
  cast<BasicBlock>(Map[L->getHeader()])
      ->removePredecessor(cast<BasicBlock>(Map[Preheader]));
  // Threads that never reach the loop keep what the entry set: Done.
  if (HasState) {
    IRBuilder<> AtEntry(&F->getEntryBlock(), F->getEntryBlock().begin());
    setState(AtEntry, *F, LoopState::Done);
  }
  removeUnreachableBlocks(*F);
  return F;
}

/// `F` with i1 as its result; the returns of the original become `false`.
static Function *withResult(Function &F) {
  LLVMContext &C = F.getContext();
  auto *Type = FunctionType::get(Type::getInt1Ty(C),
                                 F.getFunctionType()->params(), false);
  Function *New = moveBody(F, Type);
  for (BasicBlock &Block : *New)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
      IRBuilder<>(Return).CreateRet(ConstantInt::getFalse(C));
      Return->eraseFromParent();
    }
  return New;
}

Function *Interchange::makeIteration() {
  ValueToValueMapTy Map;
  Function *Old = cloneThread(".iteration", true, Map);
  Function *F = withResult(*Old);
  for (unsigned I = 0; I < Thread.arg_size(); ++I)
    Map[Thread.getArg(I)] = F->getArg(I);
  Old->eraseFromParent();
  LLVMContext &C = F->getContext();

  BasicBlock *Begin = beginAt(*F, LoopState::InLoop, ConstantInt::getFalse(C));
  IRBuilder<> B(Begin);
  DenseMap<Value *, Value *> Done;
  for (Value *V : LiveInLoop)
    cast<Instruction>(Map[V])->replaceAllUsesWith(
        recompute(V, B, Map, Done, *F));
  auto *Header = cast<BasicBlock>(Map[L->getHeader()]);
  auto *Latch = cast<BasicBlock>(Map[L->getLoopLatch()]);

  // Where the loop goes round again: what it carries is kept.
  BasicBlock *Again = BasicBlock::Create(C, "again", F);
  IRBuilder<> AtEnd(Again);
  for (PHINode *Phi : OtherPhis) {
    unsigned I = std::distance(Saved.begin(), find(Saved, Phi));
    Value *Next = cast<PHINode>(Map[Phi])->getIncomingValueForBlock(Latch);
    AtEnd.CreateStore(Next, slot(*F, I));
  }
  AtEnd.CreateRet(ConstantInt::getTrue(C));
  Latch->getTerminator()->replaceSuccessorWith(Header, Again);

  Value *Number = F->getArg(Thread.arg_size());
  for (auto &[Phi, Variable] : Inductions) {
    auto *Clone = cast<PHINode>(Map[Phi]);
    Value *K = B.CreateZExtOrTrunc(Number, Phi->getType());
    Value *From = recompute(Variable.Initial, B, Map, Done, *F);
    Value *Distance =
        B.CreateMul(K, recompute(Variable.Step, B, Map, Done, *F));
    Value *Now = Variable.Down ? B.CreateSub(From, Distance)
                               : B.CreateAdd(From, Distance);
    Clone->replaceAllUsesWith(Now);
    Clone->eraseFromParent();
  }
  for (PHINode *Phi : OtherPhis) {
    auto *Clone = cast<PHINode>(Map[Phi]);
    Clone->replaceAllUsesWith(recompute(Phi, B, Map, Done, *F));
    Clone->eraseFromParent();
  }
  B.CreateBr(Header);

  auto *ExitClone = cast<BasicBlock>(Map[Exit]);
  IRBuilder<> AtExit(ExitClone, ExitClone->getFirstInsertionPt());
  for (PHINode *Phi : ExitPhis) {
    unsigned I = std::distance(Saved.begin(), find(Saved, Phi));
    AtExit.CreateStore(Map[Phi], slot(*F, I));
  }
  setState(AtExit, *F, LoopState::Left);
  for (BasicBlock *Next : successors(ExitClone))
    Next->removePredecessor(ExitClone);
  Instruction *Leave = AtExit.CreateRet(ConstantInt::getFalse(C));
  while (&ExitClone->back() != Leave) {
    Instruction &Last = ExitClone->back();
    if (!Last.use_empty())
      Last.replaceAllUsesWith(PoisonValue::get(Last.getType()));
    Last.eraseFromParent();
  }
  removeUnreachableBlocks(*F);
  return F;
}

Function *Interchange::makeAfter() {
  // Is the exit all that follows?
  if (isa<ReturnInst>(&*Exit->getFirstNonPHIOrDbg()))
    return nullptr;
  ValueToValueMapTy Map;
  Function *F = cloneThread(".after", false, Map);
  IRBuilder<> B(beginAt(*F, LoopState::Left, nullptr));
  DenseMap<Value *, Value *> Done;
  for (Value *V : LiveAfter)
    cast<Instruction>(Map[V])->replaceAllUsesWith(
        recompute(V, B, Map, Done, *F));
  auto *ExitClone = cast<BasicBlock>(Map[Exit]);
  for (PHINode *Phi : ExitPhis) {
    auto *Clone = cast<PHINode>(Map[Phi]);
    Clone->replaceAllUsesWith(recompute(Phi, B, Map, Done, *F));
    Clone->eraseFromParent();
  }
  B.CreateBr(ExitClone);
  removeUnreachableBlocks(*F);
  return F;
}

std::optional<InterchangedThread> Interchange::run() {
  if (!analyze() || Saved.size() > MaxSaved)
    return std::nullopt;
  InterchangedThread Result;
  for (Value *V : Saved)
    Result.Saved.push_back(V->getType());
  Result.HasState = HasState;
  Result.Before = makeBefore();
  Result.Iteration = makeIteration();
  Result.After = makeAfter();
  return Result;
}

/// The pass manager's machinery for one run over some functions.
struct Analyses {
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  Analyses() {
    PassBuilder Builder;
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  }
};

} // namespace

void simplifyThreads(Module &M, ArrayRef<Function *> Threads) {
  Analyses Managers;
  // Nobody calls them yet, which is no reason to remove them.
  for (Function *Thread : Threads)
    Thread->setLinkage(GlobalValue::ExternalLinkage);
  ModulePassManager Inlining;
  Inlining.addPass(AlwaysInlinerPass());
  Inlining.addPass(ModuleInlinerWrapperPass(getInlineParams(2, 0)));
  Inlining.run(M, Managers.Modules);
  FunctionPassManager Passes;
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(EarlyCSEPass());
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(InstCombinePass());
  Passes.addPass(SimplifyCFGPass());
  // What the loop's head asks of the context in each iteration.
  Passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                 /*UseMemorySSA=*/true));
  Passes.addPass(LoopSimplifyPass());
  Passes.addPass(LCSSAPass());
  for (Function *Thread : Threads)
    Passes.run(*Thread, Managers.Functions);
  for (Function *Thread : Threads)
    Thread->setLinkage(GlobalValue::InternalLinkage);
}

std::optional<InterchangedThread> interchangeLoop(Function &Thread) {
  Analyses Managers;
  return Interchange(Thread, Managers.Functions).run();
}

} // namespace dragon
