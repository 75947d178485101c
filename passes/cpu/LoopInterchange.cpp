//===- LoopInterchange.cpp - threads inside a kernel's loop ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/LoopInterchange.h"

#include "dragon/CompilerABI.h"
#include "passes/cpu/ThreadContext.h"
#include "passes/support/ExtraParameters.h"
#include "passes/support/SpinLoops.h"

#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
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
constexpr unsigned MaxRecomputed = 24;
/// Steps of a thread through memory that are no jump, in bytes.
constexpr uint64_t SmallStep = 32;

/// An induction variable: Phi = Initial + (or -) number of the iteration *
/// Step.
struct Induction {
  Value *Initial;
  Value *Step;
  bool Down;
};

class Interchange {
public:
  Interchange(Function &Thread, FunctionAnalysisManager &Analyses)
      : Thread(Thread), DT(Analyses.getResult<DominatorTreeAnalysis>(Thread)),
        LI(Analyses.getResult<LoopAnalysis>(Thread)),
        SE(Analyses.getResult<ScalarEvolutionAnalysis>(Thread)) {}

  std::optional<InterchangedThread> run();

private:
  bool findLoop();
  bool isWorthwhile();
  void findInductions();
  bool exitsArePredictable();
  bool controlIsUniform();
  bool readsConstantMemory(const LoadInst &Load);
  bool recomputable(Value *V, unsigned &Budget);
  bool recomputable(Value *V) {
    unsigned Budget = MaxRecomputed;
    return recomputable(V, Budget);
  }
  bool dependsOnInductionsOnly(Value *V, unsigned Depth = 0);
  bool isUniform(Value *V, unsigned Depth = 0);
  void findLiveValues();
  void save(Value *V) {
    if (!isa<Constant, Argument>(V))
      Saved.insert(V);
  }

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

  Function &Thread;
  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  Loop *L = nullptr;
  BasicBlock *Exit = nullptr;
  MapVector<PHINode *, Induction> Inductions;
  SmallVector<PHINode *, 4> OtherPhis; // of the header
  SmallVector<PHINode *, 4> ExitPhis;  // of the exit, used afterwards
  SetVector<Value *> LiveInLoop, LiveAfter;
  SmallPtrSet<BasicBlock *, 16> AfterBlocks;
  SetVector<Value *> Saved; // in the order of the slots
  bool HasState = true;
};

/// A structure by value that is only read is the same for all threads, always.
static bool isOnlyRead(const Value *Pointer) {
  return all_of(Pointer->users(), [](const User *U) {
    return isa<LoadInst>(U) || (isa<GetElementPtrInst>(U) && isOnlyRead(U));
  });
}

bool Interchange::findLoop() {
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
bool Interchange::isWorthwhile() {
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

void Interchange::findInductions() {
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
bool Interchange::readsConstantMemory(const LoadInst &Load) {
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
bool Interchange::recomputable(Value *V, unsigned &Budget) {
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
bool Interchange::dependsOnInductionsOnly(Value *V, unsigned Depth) {
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

bool Interchange::exitsArePredictable() {
  SmallVector<BasicBlock *, 4> Exiting;
  L->getExitingBlocks(Exiting);
  return all_of(Exiting, [&](BasicBlock *Block) {
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    return Branch && Branch->isConditional() &&
           dependsOnInductionsOnly(Branch->getCondition());
  });
}

/// The same for all threads of a block in the same iteration.
bool Interchange::isUniform(Value *V, unsigned Depth) {
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

bool Interchange::controlIsUniform() {
  // The loop is reached by all.
  for (BasicBlock *Block = &Thread.getEntryBlock();
       Block != L->getLoopPreheader();) {
    Block = Block->getUniqueSuccessor();
    if (!Block)
      return false;
  }
  SmallVector<BasicBlock *, 4> Exiting;
  L->getExitingBlocks(Exiting);
  // One exit: with several, who leaves by which may differ in an iteration.
  return Exiting.size() == 1 &&
         isUniform(
             cast<BranchInst>(Exiting[0]->getTerminator())->getCondition());
}

void Interchange::findLiveValues() {
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

// -- The parts ----------------------------------------------------------------

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
  if (!findLoop() || !isWorthwhile())
    return std::nullopt;
  findInductions();
  if (!exitsArePredictable())
    return std::nullopt;
  HasState = !controlIsUniform();
  findLiveValues();
  if (Saved.size() > MaxSaved)
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
