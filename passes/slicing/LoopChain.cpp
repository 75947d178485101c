//===- LoopChain.cpp - loops one after the other as one -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopChain.h"

#include "passes/slicing/LoopExits.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <map>
#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// What becomes of a number that counts, on an edge.
enum class Count { Restarts, Stays, GoesOn };

/// An edge that leads through the head.
struct Edge {
  BasicBlock *From, *To;
  unsigned Phase; ///< that `To` is in
  Count Iteration = Count::Restarts, Round = Count::Restarts;
};

/// Loops that a thread walks through together: those inside of one, or one
/// alone.
struct Group {
  Loop *Around;
  unsigned FirstPhase;
  unsigned EndPhase = 0;
};

class Chainer {
public:
  Chainer(Function &F, ArrayRef<ChainedLoop> Loops)
      : F(F), Loops(Loops), DT(F) {
    findGroups();
    for (auto [Number, L] : enumerate(Loops))
      for (BasicBlock *Block : L.L->blocks())
        LoopOf[Block] = unsigned(Number);
  }

  const char *chain(LoopChain &Chain);

private:
  void findGroups();
  const char *findStart();
  void findRegion();
  std::optional<Edge> edge(BasicBlock &From, BasicBlock &To) const;
  const char *findEdges();
  void keepInMemory();
  void addHead(LoopChain &Chain);
  void numberTargets(LoopChain &Chain);
  void keep(AllocaInst *Variable) {
    if (Variable)
      Variables.push_back(Variable);
  }
  std::optional<unsigned> loopOf(BasicBlock *Block) const {
    const auto Found = LoopOf.find(Block);
    return Found == LoopOf.end() ? std::nullopt : std::optional(Found->second);
  }
  std::optional<unsigned> loopWithHead(BasicBlock *Block) const {
    const std::optional<unsigned> In = loopOf(Block);
    return In && Loops[*In].L->getHeader() == Block ? In : std::nullopt;
  }
  /// With loops inside, of which the block is in none, or in one.
  const Group *nestOf(const BasicBlock *Block) const {
    const auto *Found = find_if(Groups, [&](const Group &Of) {
      return Of.Around && Of.Around->contains(Block);
    });
    return Found == Groups.end() ? nullptr : Found;
  }
  static Loop *outermost(const ChainedLoop &L) {
    return L.Around ? L.Around : L.L;
  }
  unsigned leaving() const { return unsigned(Phases.size()); }

  Function &F;
  const ArrayRef<ChainedLoop> Loops;
  SmallVector<Group, 4> Groups;
  SmallVector<LoopChain::Phase, 8> Phases;   ///< but for their bounds
  SmallVector<unsigned, 4> PhaseOf, GroupOf; ///< of each loop
  DominatorTree DT;
  DenseMap<BasicBlock *, unsigned> LoopOf;
  BasicBlock *Start = nullptr; ///< it dominates all of the loops
  /// What comes to one of the loops, behind the start.
  SmallPtrSet<BasicBlock *, 32> Region;
  SmallVector<Edge, 16> Edges;
  SmallVector<BasicBlock *, 2> Before; ///< the start's predecessors
  /// The places behind edges, and their numbers: those of a loop behind those
  /// of the loop before.
  std::map<std::pair<unsigned, BasicBlock *>, uint32_t> Numbers;
  SmallVector<std::pair<unsigned, BasicBlock *>, 16> Targets;
  SmallVector<AllocaInst *, 32> Variables;
};

/// And the phases: one for each loop, and one behind those of a round.
void Chainer::findGroups() {
  unsigned Nests = 0;
  for (auto [Number, L] : enumerate(Loops)) {
    const bool Goes =
        L.Around && !Groups.empty() && Groups.back().Around == L.Around;
    if (Goes)
      Phases.pop_back(); // it is behind this loop, too
    else
      Groups.push_back({L.Around, leaving()});
    Nests += L.Around && !Goes;
    const auto Nest = L.Around ? std::optional(Nests - 1) : std::nullopt;
    GroupOf.push_back(unsigned(Groups.size()) - 1);
    PhaseOf.push_back(leaving());
    Phases.push_back({0, unsigned(Number), Nest});
    if (L.Around)
      Phases.push_back({0, std::nullopt, Nest});
    Groups.back().EndPhase = leaving();
  }
}

/// Up to there a launch does all each time; from there on each thread is where
/// it was.
const char *Chainer::findStart() {
  BasicBlock *const First = outermost(Loops.front())->getHeader();
  BasicBlock *Common = First;
  for (const ChainedLoop &L : drop_begin(Loops))
    Common = DT.findNearestCommonDominator(Common, outermost(L)->getHeader());
  Start = Common;
  if (Common != First) {
    if (LoopInfo(DT).getLoopFor(Common))
      return "the loops are reached from the middle of another one";
    Start = SplitBlock(Common, Common->getTerminator(), &DT);
  }
  for (BasicBlock *Block : predecessors(Start))
    if (!DT.dominates(Start, Block))
      Before.push_back(Block);
  return nullptr;
}

void Chainer::findRegion() {
  SmallVector<BasicBlock *, 32> Left;
  for (const ChainedLoop &L : Loops) {
    Left.push_back(L.L->getHeader());
    Left.push_back(outermost(L)->getHeader());
  }
  while (!Left.empty()) {
    BasicBlock *Block = Left.pop_back_val();
    if (DT.isReachableFromEntry(Block) && DT.dominates(Start, Block) &&
        Region.insert(Block).second)
      append_range(Left, predecessors(Block));
  }
}

/// That between two blocks, of which the first is in the region, if it leads
/// through the head.
std::optional<Edge> Chainer::edge(BasicBlock &From, BasicBlock &To) const {
  const Group *const Nest = nestOf(&From);
  const bool Stays = Nest && Nest->Around->contains(&To);
  Edge E{&From, &To, leaving()};
  if (!Region.contains(&To))
    return E;
  // Within a round.
  if (Stays)
    E.Round = Count::Stays;
  const std::optional<unsigned> In = loopOf(&From), Into = loopWithHead(&To);
  if (Into) {
    E.Phase = PhaseOf[*Into];
    if (In == Into)
      E.Iteration = Count::GoesOn;
    return E;
  }
  for (const Group &G : Groups)
    if (G.Around && G.Around->getHeader() == &To) {
      E.Phase = G.FirstPhase;
      if (&G == Nest)
        E.Round = Count::GoesOn;
      return E;
    }
  if (Nest && !Stays) {
    E.Phase = Nest->EndPhase;
    return E;
  }
  if (!In || Loops[*In].L->contains(&To))
    return std::nullopt;
  E.Phase = PhaseOf[*In] + 1;
  return E;
}

const char *Chainer::findEdges() {
  constexpr const char *Unusual = "it is left in an unusual way";
  for (BasicBlock *Block : Before) {
    if (!isa<BranchInst, SwitchInst>(Block->getTerminator()))
      return Unusual;
    Edges.push_back({Block, Start, 0});
  }
  // In the function's order: the same code comes out each time.
  for (BasicBlock &Block : F) {
    if (!Region.contains(&Block))
      continue;
    SmallPtrSet<BasicBlock *, 4> Seen;
    for (BasicBlock *Next : successors(&Block)) {
      if (!Seen.insert(Next).second)
        continue;
      const std::optional<Edge> Found = edge(Block, *Next);
      if (!Found)
        continue;
      Edges.push_back(*Found);
      if (!isa<BranchInst, SwitchInst>(Block.getTerminator()))
        return Unusual;
    }
  }
  return nullptr;
}

/// What is used behind an edge lies in memory for a time, so that edges may
/// lead elsewhere.
void Chainer::keepInMemory() {
  const BasicBlock::iterator Top =
      F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  SmallVector<PHINode *, 16> Phis;
  SmallPtrSet<BasicBlock *, 16> Seen;
  for (const Edge &E : Edges)
    if (Seen.insert(E.To).second)
      for (PHINode &Phi : E.To->phis())
        Phis.push_back(&Phi);
  for (PHINode *Phi : Phis)
    keep(DemotePHIToStack(Phi, Top));
  SmallVector<Instruction *, 64> Values;
  for (BasicBlock &Block : F)
    if (Region.contains(&Block))
      for (Instruction &I : Block)
        if (any_of(I.users(), [&](const User *By) {
              const auto *User = cast<Instruction>(By);
              return User->getParent() != &Block || isa<PHINode>(User);
            }))
          Values.push_back(&I);
  for (Instruction *I : Values)
    keep(DemoteRegToStack(*I, /*VolatileLoads=*/false, Top));
  // Where a thread has not been yet, nothing is kept.
  for (AllocaInst *Variable : Variables) {
    IRBuilder<> B(Variable->getParent(), std::next(Variable->getIterator()));
    B.CreateStore(Constant::getNullValue(Variable->getAllocatedType()),
                  Variable);
  }
}

void Chainer::numberTargets(LoopChain &Chain) {
  SmallPtrSet<BasicBlock *, 16> Seen;
  for (unsigned Phase = 0; Phase <= leaving(); ++Phase) {
    for (const Edge &E : Edges)
      if (E.Phase == Phase &&
          Numbers.try_emplace({Phase, E.To}, uint32_t(Targets.size())).second)
        Targets.emplace_back(Phase, E.To);
    if (Phase < leaving())
      Phases[Phase].Bound = uint32_t(Targets.size());
  }
  Chain.Phases.assign(Phases.begin(), Phases.end());
  Chain.NumLoops = unsigned(Loops.size());
  Chain.NumNests = unsigned(
      count_if(Groups, [](const Group &G) { return G.Around != nullptr; }));
}

void Chainer::addHead(LoopChain &Chain) {
  LLVMContext &Context = F.getContext();
  auto Add = [&](const char *Name) {
    return BasicBlock::Create(Context, Name, &F);
  };
  BasicBlock *Front = Add("dragon.front"), *Head = Add("dragon.head"),
             *Go = Add("dragon.go"), *Out = Add("dragon.out"),
             *Next = Add("dragon.next");
  IRBuilder<> B(Head);
  Type *Short = B.getInt32Ty(), *Long = B.getInt64Ty();
  Chain.Where = B.CreatePHI(Short, 2, "dragon.where");
  Chain.Iteration = B.CreatePHI(Long, 2, "dragon.iteration");
  if (Chain.NumNests)
    Chain.Round = B.CreatePHI(Long, 2, "dragon.round");
  const uint32_t FirstOut = Phases.back().Bound;
  B.CreateCondBr(B.CreateICmpUGE(Chain.Where, B.getInt32(FirstOut)), Out, Go);
  B.SetInsertPoint(Next);
  PHINode *WhereNext = B.CreatePHI(Short, 8);
  PHINode *IterationNext = B.CreatePHI(Long, 8);
  PHINode *RoundNext = Chain.Round ? B.CreatePHI(Long, 8) : nullptr;
  B.CreateBr(Head);
  B.SetInsertPoint(Front);
  B.CreateBr(Head);
  Chain.Where->addIncoming(ConstantInt::get(Short, Numbers.at({0u, Start})),
                           Front);
  Chain.Where->addIncoming(WhereNext, Next);
  auto Carry = [&](PHINode *Phi, PHINode *InNext) {
    Phi->addIncoming(ConstantInt::get(Long, 0), Front);
    Phi->addIncoming(InNext, Next);
  };
  Carry(Chain.Iteration, IterationNext);
  if (Chain.Round)
    Carry(Chain.Round, RoundNext);
  auto Counted = [&](PHINode *Phi, Count Does) -> Value * {
    if (Does == Count::Restarts)
      return B.getInt64(0);
    return Does == Count::Stays ? Phi : B.CreateAdd(Phi, B.getInt64(1));
  };

  for (const Edge &E : Edges) {
    Instruction *End = E.From->getTerminator();
    End->setMetadata(LLVMContext::MD_loop, nullptr);
    if (is_contained(Before, E.From)) {
      End->replaceSuccessorWith(E.To, Front);
      continue;
    }
    BasicBlock *Way = Add("dragon.way");
    End->replaceSuccessorWith(E.To, Way);
    B.SetInsertPoint(Way);
    WhereNext->addIncoming(B.getInt32(Numbers.at({E.Phase, E.To})), Way);
    IterationNext->addIncoming(Counted(Chain.Iteration, E.Iteration), Way);
    if (RoundNext)
      RoundNext->addIncoming(Counted(Chain.Round, E.Round), Way);
    B.CreateBr(Next);
  }
  auto Lead = [&](BasicBlock *From, ArrayRef<uint32_t> To) {
    B.SetInsertPoint(From);
    SwitchInst *Switch = B.CreateSwitch(Chain.Where, Targets[To.back()].second);
    for (uint32_t Number : To.drop_back())
      Switch->addCase(B.getInt32(Number), Targets[Number].second);
  };
  SmallVector<uint32_t, 16> All(Targets.size());
  for (uint32_t I = 0; I < All.size(); ++I)
    All[I] = I;
  Lead(Go, ArrayRef(All).take_front(FirstOut));
  Lead(Out, ArrayRef(All).drop_front(FirstOut));
}

const char *Chainer::chain(LoopChain &Chain) {
  for (const ChainedLoop &Each : Loops)
    for (const Loop *L : {Each.L, Each.Around})
      if (L &&
          isFollowedBehind(*L, BlockSet(L->block_begin(), L->block_end()), DT))
        return "what is behind it may access what its last iteration did";
  if (const char *Why = findStart())
    return Why;
  findRegion();
  if (const char *Why = findEdges())
    return Why;
  if (none_of(Edges, [&](const Edge &E) { return E.Phase == leaving(); }))
    return "it never ends";
  for (BasicBlock *Block : Region)
    for (const Instruction &I : *Block)
      if (I.getType()->isTokenTy() || isa<AllocaInst>(I))
        return "it has variables of its own";
  keepInMemory();
  numberTargets(Chain);
  addHead(Chain);
  DominatorTree Now(F);
  PromoteMemToReg(Variables, Now);
  return nullptr;
}

} // namespace

const char *chainLoops(Function &F, ArrayRef<ChainedLoop> Loops,
                       LoopChain &Chain) {
  return Chainer(F, Loops).chain(Chain);
}

} // namespace dragon
