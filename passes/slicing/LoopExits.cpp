//===- LoopExits.cpp - loops that are left in their middle ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopExits.h"

#include "passes/support/UsedGlobals.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace dragon {

namespace {

bool isAddressInBuffer(const Value &V) {
  const unsigned Space = V.getType()->getPointerAddressSpace();
  if (Space != NVPTXAS::ADDRESS_SPACE_GENERIC &&
      Space != NVPTXAS::ADDRESS_SPACE_GLOBAL)
    return false;
  auto IsOfParameter = [&V](const Value *From) {
    const Value *Object = getUnderlyingObject(From);
    const auto *Arg = dyn_cast<Argument>(Object);
    return Object == &V || (Arg && !Arg->hasByValAttr());
  };
  const auto *Phi = dyn_cast<PHINode>(&V);
  if (Phi ? all_of(Phi->incoming_values(), IsOfParameter) : IsOfParameter(&V))
    return true;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(&V, Objects, nullptr, /*MaxLookup=*/0);
  return all_of(Objects, [](const Value *Object) {
    const auto *Arg = dyn_cast<Argument>(Object);
    return (Arg && !Arg->hasByValAttr()) || isa<ConstantPointerNull>(Object);
  });
}

bool isOfOwn(const Value *Address) {
  return isOwn(*getUnderlyingObject(Address));
}

/// Code, some values of which are followed to addresses in buffers.
class Followed {
public:
  using IsFollowed = function_ref<bool(const Value &)>;
  Followed(IsFollowed Follows, unsigned Depth = 0)
      : Follows(Follows), Depth(Depth) {}

  /// Accesses a buffer at an address that is made of such a value.
  bool accesses(const Instruction &I) {
    if (const Value *Address = getLoadStorePointerOperand(&I))
      return !isOfOwn(Address) && depends(*Address);
    if (const auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return !isOfOwn(Atomic->getPointerOperand()) &&
             depends(*Atomic->getPointerOperand());
    if (const auto *Call = dyn_cast<CallBase>(&I))
      return accessesIn(*Call);
    return I.mayReadOrWriteMemory() && !isa<FenceInst>(I) &&
           any_of(I.operands(),
                  [this](const Use &Operand) { return depends(*Operand); });
  }

private:
  bool accessesIn(const CallBase &Call) {
    constexpr unsigned Deepest = 6;
    SmallPtrSet<const Value *, 8> Parameters;
    const Function *Callee = Call.getCalledFunction();
    const bool IsSeen = Callee && !Callee->isDeclaration() &&
                        !Callee->isVarArg() && Depth < Deepest;
    bool HasBuffer = false, Any = false;
    for (unsigned I = 0; I < Call.arg_size(); ++I) {
      const Value *Arg = Call.getArgOperand(I);
      HasBuffer |= Arg->getType()->isPointerTy() && !isOfOwn(Arg);
      if (!depends(*Arg))
        continue;
      Any = true;
      if (IsSeen)
        Parameters.insert(Callee->getArg(I));
    }
    if (!HasBuffer || !Any || !IsSeen)
      return HasBuffer && Any;
    auto IsParameter = [&](const Value &V) { return Parameters.contains(&V); };
    Followed Inner(IsParameter, Depth + 1);
    return any_of(instructions(*Callee),
                  [&](const Instruction &I) { return Inner.accesses(I); });
  }
  bool depends(const Value &V) {
    if (Follows(V))
      return true;
    const auto *I = dyn_cast<Instruction>(&V);
    if (!I)
      return false;
    auto [Known, IsNew] = Dependent.try_emplace(I, false);
    if (!IsNew)
      return Known->second;
    // Variables in local memory may hold anything of it.
    const auto *Load = dyn_cast<LoadInst>(I);
    const bool Is = (Load && isOfOwn(Load->getPointerOperand())) ||
                    any_of(I->operands(), [this](const Use &Operand) {
                      return depends(*Operand);
                    });
    return Dependent[I] = Is;
  }

  const IsFollowed Follows;
  const unsigned Depth;
  DenseMap<const Instruction *, bool> Dependent;
};

/// The ways out of a loop, and what is used behind them.
class Exits {
public:
  Exits(Loop &L, LoopInfo &LI)
      : L(L), LI(LI), Head(L.getHeader()), Front(L.getLoopPreheader()),
        Latch(L.getLoopLatch()), Function(*Head->getParent()) {}

  void leadThroughHead(DominatorTree &DT);

private:
  PHINode *phiInHead(Type *T);
  void addLatch();
  void turn(BasicBlock &From, BasicBlock &Out);
  void finishPhis(BasicBlock &Out);

  Loop &L;
  LoopInfo &LI;
  BasicBlock *const Head, *const Front;
  BasicBlock *Latch;
  llvm::Function &Function;
  BasicBlock *Next = nullptr; ///< the new latch
  BasicBlock *Left = nullptr; ///< behind the head, where the loop has ended
  PHINode *Way = nullptr;     ///< in the head: 0, or the number of the way out
  PHINode *WayNext = nullptr; ///< the same in the new latch
  MapVector<BasicBlock *, uint32_t> Ways;
  /// For each phi behind the loop, what keeps its value: in the head, and in
  /// the new latch.
  MapVector<PHINode *, std::pair<PHINode *, PHINode *>> Values;
  /// Of each phi in the new latch, that in the head.
  SmallVector<std::pair<PHINode *, PHINode *>, 8> Pairs;
};

/// A phi that keeps its value, but where the new latch has another one.
PHINode *Exits::phiInHead(Type *T) {
  IRBuilder<> B(Head, Head->begin());
  PHINode *InHead = B.CreatePHI(T, 2, "dragon.left");
  B.SetInsertPoint(Next, Next->begin());
  PHINode *InNext = B.CreatePHI(T, 2);
  InHead->addIncoming(Constant::getNullValue(T), Front);
  InHead->addIncoming(InNext, Next);
  Pairs.emplace_back(InNext, InHead);
  return InHead;
}

void Exits::addLatch() {
  LLVMContext &Context = Function.getContext();
  Next = BasicBlock::Create(Context, "dragon.next", &Function);
  L.addBasicBlockToLoop(Next, LI);
  Latch->getTerminator()->replaceSuccessorWith(Head, Next);
  for (PHINode &Phi : Head->phis()) {
    PHINode *InNext = PHINode::Create(Phi.getType(), 2, "", Next);
    const int FromLatch = Phi.getBasicBlockIndex(Latch);
    InNext->addIncoming(Phi.getIncomingValue(FromLatch), Latch);
    Phi.setIncomingValue(FromLatch, InNext);
    Phi.setIncomingBlock(FromLatch, Next);
    Pairs.emplace_back(InNext, &Phi);
  }
  BranchInst::Create(Head, Next);
}

/// The edge goes through the head.
void Exits::turn(BasicBlock &From, BasicBlock &Out) {
  // A switch may have several cases for it.
  if (!is_contained(successors(&From), &Out))
    return;
  BasicBlock *Leaves =
      BasicBlock::Create(Function.getContext(), "dragon.leaves", &Function);
  L.addBasicBlockToLoop(Leaves, LI);
  From.getTerminator()->replaceSuccessorWith(&Out, Leaves);
  BranchInst::Create(Next, Leaves);
  WayNext->addIncoming(
      ConstantInt::get(
          WayNext->getType(),
          Ways.insert({&Out, uint32_t(Ways.size() + 1)}).first->second),
      Leaves);
  for (PHINode &Phi : Out.phis()) {
    auto [Kept, IsNew] = Values.try_emplace(&Phi);
    if (IsNew) {
      PHINode *InHead = phiInHead(Phi.getType());
      Kept->second = {InHead, Pairs.back().first};
    }
    Kept->second.second->addIncoming(Phi.getIncomingValueForBlock(&From),
                                     Leaves);
  }
}

void Exits::finishPhis(BasicBlock &Out) {
  for (PHINode &Phi : Out.phis()) {
    while (Phi.getNumIncomingValues())
      Phi.removeIncomingValue(0u, /*DeletePHIIfEmpty=*/false);
    Phi.addIncoming(Values[&Phi].first, Left);
  }
}

void Exits::leadThroughHead(DominatorTree &DT) {
  // In the function's order: the same code comes out each time.
  const BlockSet Blocks = withWaysOut(L);
  for (BasicBlock &Block : Function) {
    if (!Blocks.contains(&Block) || L.contains(&Block))
      continue;
    if (isa<ReturnInst>(Block.getTerminator()))
      SplitBlock(&Block, Block.getTerminator(), &DT, &LI);
    L.addBasicBlockToLoop(&Block, LI);
  }
  formDedicatedExitBlocks(&L, &DT, &LI, nullptr, /*PreserveLCSSA=*/false);
  formLCSSA(L, DT, &LI, nullptr);
  BasicBlock *Body = SplitBlock(Head, Head->getFirstNonPHIIt(), &DT, &LI);
  if (Latch == Head)
    Latch = Body;
  SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> Edges;
  L.getExitEdges(Edges);
  addLatch();
  Way = phiInHead(Type::getInt32Ty(Function.getContext()));
  WayNext = Pairs.back().first;
  WayNext->addIncoming(ConstantInt::get(Way->getType(), 0), Latch);
  for (auto [From, Out] : Edges)
    turn(*From, *Out);

  Left = BasicBlock::Create(Function.getContext(), "dragon.out", &Function);
  Instruction *Old = Head->getTerminator();
  IRBuilder<> B(Old);
  B.CreateCondBr(B.CreateICmpNE(Way, B.getInt32(0)), Left, Body);
  Old->eraseFromParent();
  B.SetInsertPoint(Left);
  SwitchInst *Switch = B.CreateSwitch(Way, Ways.front().first);
  for (auto [Out, Number] : drop_begin(Ways))
    Switch->addCase(B.getInt32(Number), Out);
  for (auto [Out, Number] : Ways)
    finishPhis(*Out);
  // From where nothing else comes, what the head has.
  for (auto [InNext, InHead] : Pairs)
    for (BasicBlock *From : predecessors(Next))
      if (InNext->getBasicBlockIndex(From) < 0)
        InNext->addIncoming(InHead, From);
}

} // namespace

bool canBeKept(const Value &V) {
  Type *T = V.getType();
  if (T->isPointerTy())
    return isAddressInBuffer(V);
  const auto *I = dyn_cast<Instruction>(&V);
  if (!I || !(T->isIntOrIntVectorTy() || T->isFPOrFPVectorTy()))
    return false;
  const TypeSize Bytes = I->getDataLayout().getTypeStoreSize(T);
  return !Bytes.isScalable() && Bytes <= 16;
}

bool isFollowedBehind(const Loop &L, const BlockSet &Blocks,
                      const DominatorTree &DT) {
  auto IsOfLoop = [&](const Value &V) {
    const auto *I = dyn_cast<Instruction>(&V);
    return I && Blocks.contains(I->getParent());
  };
  Followed Values(IsOfLoop);
  BasicBlock *Head = L.getHeader();
  for (BasicBlock &Block : *Head->getParent())
    if (!Blocks.contains(&Block) && DT.isReachableFromEntry(&Block) &&
        isPotentiallyReachable(Head, &Block, nullptr, &DT) &&
        any_of(Block, [&](const Instruction &I) { return Values.accesses(I); }))
      return true;
  return false;
}

static bool hasPlainSuccessors(const Instruction &End) {
  return isa<BranchInst>(End) || isa<SwitchInst>(End);
}

BlockSet withWaysOut(const Loop &L) {
  /// What is longer is behind the loop.
  constexpr unsigned MostInstructions = 64;
  BlockSet Blocks(L.block_begin(), L.block_end());
  SmallVector<BasicBlock *, 16> Left(L.block_begin(), L.block_end());
  while (!Left.empty())
    for (BasicBlock *Next : successors(Left.pop_back_val())) {
      const Instruction *End = Next->getTerminator();
      if (Blocks.contains(Next) || !Next->getUniquePredecessor() ||
          !(hasPlainSuccessors(*End) || isa<ReturnInst>(End)) ||
          Next->size() > MostInstructions ||
          any_of(*Next, [](const Instruction &I) {
            const auto *Call = dyn_cast<CallBase>(&I);
            return Call && Call->isConvergent();
          }))
        continue;
      Blocks.insert(Next);
      Left.push_back(Next);
    }
  return Blocks;
}

const char *obstacleToLeaveAtHead(const Loop &L, const BlockSet &Blocks,
                                  const DominatorTree &DT) {
  bool IsLeft = false;
  for (const BasicBlock &Block : *L.getHeader()->getParent()) {
    if (!Blocks.contains(&Block))
      continue;
    const bool Leaves = any_of(successors(&Block), [&](const BasicBlock *Next) {
      return !Blocks.contains(Next);
    });
    IsLeft |= Leaves || isa<ReturnInst>(Block.getTerminator());
    if (Leaves && !hasPlainSuccessors(*Block.getTerminator()))
      return "it is left in an unusual way";
    for (const Instruction &I : Block)
      if (any_of(I.users(),
                 [&](const User *By) {
                   return !Blocks.contains(cast<Instruction>(By)->getParent());
                 }) &&
          !canBeKept(I))
        return "a value that is used behind it cannot be kept for the next "
               "launch";
  }
  if (!IsLeft)
    return "it never ends";
  return isFollowedBehind(L, Blocks, DT)
             ? "what is behind it may access what its last iteration did"
             : nullptr;
}

void leaveAtHead(Loop &L, DominatorTree &DT, LoopInfo &LI) {
  Exits(L, LI).leadThroughHead(DT);
}

} // namespace dragon
