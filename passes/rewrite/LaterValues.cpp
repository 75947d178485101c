//===- LaterValues.cpp - what values will be, and whether -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LaterValues.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned MaxDepth = 16;

using BlockSet = SmallPtrSet<const BasicBlock *, 32>;

/// What writes to a variable that nothing but loads and stores refers to; false
/// if that is not so.
bool collectWriters(const Value &Address,
                    SmallPtrSetImpl<const Instruction *> *Writers) {
  for (const Use &U : Address.uses()) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      if (Load->isVolatile())
        return false;
    } else if (auto *Store = dyn_cast<StoreInst>(I)) {
      if (U.getOperandNo() != StoreInst::getPointerOperandIndex() ||
          Store->isVolatile())
        return false;
      if (Writers)
        Writers->insert(I);
    } else if (auto *Memory = dyn_cast<MemIntrinsic>(I)) {
      if (Memory->isVolatile())
        return false;
      if (Writers)
        Writers->insert(I);
    } else if (isa<GetElementPtrInst>(I)) {
      if (!collectWriters(*I, Writers))
        return false;
    } else if (!I->isLifetimeStartOrEnd()) {
      return false;
    }
  }
  return true;
}

/// An edge of a path, unless a launch fails on it.
bool isPathEdge(const BasicBlock *From, const BasicBlock *To) {
  const BasicBlock *Launch = launchBlock(*From);
  return !Launch || Launch == To;
}

/// Blocks that are entered behind From, and on from these but for Stop.
BlockSet reach(ArrayRef<const BasicBlock *> From,
               function_ref<bool(const BasicBlock *)> Stop) {
  BlockSet Entered;
  SmallVector<const BasicBlock *, 16> Pending(From);
  while (!Pending.empty()) {
    const BasicBlock *B = Pending.pop_back_val();
    for (const BasicBlock *S : successors(B))
      if (isPathEdge(B, S) && Entered.insert(S).second && !Stop(S))
        Pending.push_back(S);
  }
  return Entered;
}

} // namespace

std::optional<LocalAddress> localAddress(Value &Address,
                                         const DataLayout &Layout) {
  LocalAddress Result;
  Value *Base = &Address;
  while (auto *Step = dyn_cast<GEPOperator>(Base)) {
    APInt Constant(64, 0);
    SmallMapVector<Value *, APInt, 4> Variable;
    if (!Step->collectOffset(Layout, 64, Variable, Constant))
      return std::nullopt;
    Result.Offset += Constant.getSExtValue();
    for (const auto &[Index, Scale] : Variable)
      Result.Indices.emplace_back(Index, Scale.getSExtValue());
    Base = Step->getPointerOperand();
  }
  Result.Variable = dyn_cast<AllocaInst>(Base);
  if (!Result.Variable || !Result.Variable->isStaticAlloca() ||
      Result.Variable->isArrayAllocation() ||
      !collectWriters(*Result.Variable, nullptr))
    return std::nullopt;
  return Result;
}

struct LaterValues::Moment {
  const BasicBlock *To;
  bool AtEntry;
  /// Not entered on the path, but for where it ends.
  Blocks Stops;
  /// The path does not leave the block in which Now is.
  bool Within = false;
  /// Entered on the path, and complete or about to be.
  Blocks Entered;
};

LaterValues::LaterValues(Instruction &Now, const Instruction &Later,
                         const DominatorTree &Dominators,
                         ArrayRef<const Instruction *> Before)
    : Now(Now), Dominators(Dominators) {
  auto M = std::make_unique<Moment>();
  M->To = Later.getParent();
  M->AtEntry = false;
  M->Stops.insert(M->To);
  for (const Instruction *I : Before)
    M->Stops.insert(I->getParent());
  M->Within = Now.getParent() == Later.getParent() &&
              (&Now == &Later || Now.comesBefore(&Later));
  enter(*M);
  Reached = M.get();
  Moments.push_back(std::move(M));
}

LaterValues::LaterValues(Instruction &Now, const Instruction &Later,
                         const DominatorTree &Dominators, const PHINode *Known,
                         Value *Given)
    : Now(Now), Dominators(Dominators), AnyTime(true), Known(Known),
      Given(Given) {
  auto M = std::make_unique<Moment>();
  M->To = Later.getParent();
  M->AtEntry = false;
  enter(*M);
  Reached = M.get();
  Moments.push_back(std::move(M));
}

LaterValues::~LaterValues() = default;

/// Fills in what is entered: what can be reached from Now, and leads there.
void LaterValues::enter(Moment &M) const {
  if (M.Within)
    return;
  BlockSet Forward = reach({Now.getParent()}, [&](const BasicBlock *B) {
    return M.Stops.contains(B);
  });
  SmallVector<const BasicBlock *, 16> Pending{M.To};
  BlockSet Backward{M.To};
  while (!Pending.empty()) {
    const BasicBlock *B = Pending.pop_back_val();
    for (const BasicBlock *P : predecessors(B))
      if (isPathEdge(P, B) && !M.Stops.contains(P) && Backward.insert(P).second)
        Pending.push_back(P);
  }
  for (const BasicBlock *B : Forward)
    if (Backward.contains(B) && !(M.AtEntry && B == M.To))
      M.Entered.insert(B);
}

const LaterValues::Moment &LaterValues::at(const BasicBlock &To, bool AtEntry,
                                           const Moment &From) {
  auto M = std::make_unique<Moment>();
  M->To = &To;
  M->AtEntry = AtEntry;
  M->Stops = From.Stops;
  if (AtEntry)
    M->Stops.insert(&To);
  // The block in which Now is, not entered again.
  M->Within = !AtEntry && &To == Now.getParent() && !From.Entered.contains(&To);
  for (const std::unique_ptr<Moment> &Old : Moments)
    if (Old->To == M->To && Old->AtEntry == M->AtEntry &&
        Old->Within == M->Within && Old->Stops == M->Stops)
      return *Old;
  enter(*M);
  Moments.push_back(std::move(M));
  return *Moments.back();
}

/// Whether each path to the moment enters the block.
bool LaterValues::passes(const BasicBlock &B, const Moment &M) const {
  if (!M.Entered.contains(&B))
    return false;
  return &B == M.To || !reach({Now.getParent()}, [&](const BasicBlock *S) {
                          return S == &B || M.Stops.contains(S);
                        }).contains(M.To);
}

/// And enters it no second time.
bool LaterValues::passesOnce(const BasicBlock &B, const Moment &M) const {
  if (!passes(B, M))
    return false;
  return M.Stops.contains(&B) || !reach({&B}, [&](const BasicBlock *S) {
                                    return M.Stops.contains(S);
                                  }).contains(&B);
}

bool LaterValues::isThere(const Value *V, const Moment &M) const {
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return isa<Constant, Argument>(V);
  return Dominators.dominates(I, &Now) && !M.Entered.contains(I->getParent());
}

/// The phi's value when the path first comes to M, its entry; null if more than
/// one value is possible.
Value *LaterValues::incoming(const PHINode &Phi, const Moment &M) const {
  const BasicBlock *B = Phi.getParent();
  Value *Only = nullptr;
  for (unsigned I = 0; I < Phi.getNumIncomingValues(); ++I) {
    const BasicBlock *From = Phi.getIncomingBlock(I);
    // Not from where the path ends, nor from the block itself.
    if (!isPathEdge(From, B))
      continue;
    if (From != Now.getParent() &&
        (!M.Entered.contains(From) || M.Stops.contains(From) || From == B))
      continue;
    Value *V = Phi.getIncomingValue(I);
    if (Only && Only != V)
      return nullptr;
    Only = V;
  }
  return Only;
}

/// Whether the memory is now as it will be when the load is made.
bool LaterValues::keeps(const LoadInst &Load, const LocalAddress &From,
                        const Moment &M) const {
  const BasicBlock *B = Load.getParent();
  const bool Ahead = B == Now.getParent() && Now.comesBefore(&Load);
  if (!Ahead && !passes(*B, M))
    return false;
  SmallPtrSet<const Instruction *, 8> Writers;
  collectWriters(*From.Variable, &Writers);
  return none_of(Writers, [&](const Instruction *W) {
    return M.Entered.contains(W->getParent()) ||
           (W->getParent() == Now.getParent() &&
            (W == &Now || Now.comesBefore(W)));
  });
}

bool LaterValues::has(const Value *V) { return has(V, *Reached, 0); }

bool LaterValues::has(const Value *V, const Moment &M, unsigned Depth) {
  if ((Known && V == Known) || isThere(V, M))
    return true;
  if (Depth == MaxDepth)
    return false;
  auto It = Found.find({&M, V});
  if (It != Found.end())
    return It->second;
  // A phi that depends on itself cannot be had.
  Found[{&M, V}] = false;
  return Found[{&M, V}] = find(V, M, Depth + 1);
}

bool LaterValues::find(const Value *V, const Moment &M, unsigned Depth) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getType()->isVoidTy())
    return false;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    const BasicBlock &B = *Phi->getParent();
    if (AnyTime || !passes(B, M))
      return false;
    const Moment &First = at(B, true, M);
    const Value *In = incoming(*Phi, First);
    return In && has(In, First, Depth) &&
           (passesOnce(B, M) || assumeOnce(B, Depth));
  }
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    std::optional<LocalAddress> From = localAddress(
        const_cast<Value &>(*Load->getPointerOperand()), Load->getDataLayout());
    if (!From || !Load->isSimple() || !keeps(*Load, *From, M))
      return false;
    return all_of(From->Indices, [&](const auto &Index) {
      return has(Index.first, M, Depth);
    });
  }
  if (!isa<BinaryOperator, CastInst, SelectInst, CmpInst, FreezeInst, CallInst>(
          I) ||
      I->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(I))
    return false;
  return all_of(I->operands(), [&](const Use &Operand) {
    return (isa<CallInst>(I) && isa<Function>(Operand)) ||
           has(Operand, M, Depth);
  });
}

/// Assumes that the path does not enter the block again. False if no branch
/// tells whether it does: one that the path passes once in between, when it
/// first gets there.
bool LaterValues::assumeOnce(const BasicBlock &B, unsigned Depth) {
  auto [It, New] = Again.try_emplace(&B);
  if (!New)
    return !It->second.empty();
  auto Reaches = [&](const BasicBlock &From, const BasicBlock &To,
                     const BasicBlock &Around) {
    return reach({&From},
                 [&](const BasicBlock *S) {
                   return S == &Around || Reached->Stops.contains(S);
                 })
        .contains(&To);
  };
  SmallVector<PathCondition, 2> Conditions;
  for (const BasicBlock *D : Reached->Entered) {
    auto *Branch = dyn_cast<BranchInst>(D->getTerminator());
    if (!Branch || !Branch->isConditional() || Reached->Stops.contains(D) ||
        launchBlock(*D))
      continue;
    if (D != &B && (Reaches(B, B, *D) || Reaches(*Now.getParent(), *D, B) ||
                    Reaches(*D, *D, B)))
      continue;
    auto Leads = [&](const BasicBlock *S) {
      return S == &B || (!Reached->Stops.contains(S) && Reaches(*S, B, B));
    };
    const bool OnTrue = Leads(Branch->getSuccessor(0));
    if (OnTrue == Leads(Branch->getSuccessor(1)))
      continue;
    const Moment &M = firstAtEndOf(*D);
    if (has(Branch->getCondition(), M, Depth))
      Conditions.push_back({&M, Branch->getCondition(), OnTrue});
  }
  Again[&B] = Conditions;
  return !Conditions.empty();
}

const LaterValues::Moment &LaterValues::firstAtEndOf(const BasicBlock &B) {
  auto M = std::make_unique<Moment>();
  M->To = &B;
  M->AtEntry = false;
  M->Stops = Reached->Stops;
  M->Stops.insert(&B);
  enter(*M);
  Moments.push_back(std::move(M));
  return *Moments.back();
}

Value *LaterValues::isTaken(const PathCondition &Path) {
  Value *Condition = get(Path.Condition, *Path.At);
  IRBuilder<> Builder(&Now);
  Condition = Builder.CreateFreeze(Condition);
  return Path.OnTrue ? Condition : Builder.CreateNot(Condition);
}

Value *LaterValues::mispredicted() {
  Value *Result = nullptr;
  for (auto &[B, Conditions] : Again) {
    Value *Comes = nullptr;
    for (const PathCondition &Path : Conditions) {
      Value *On = isTaken(Path);
      Comes = Comes ? IRBuilder<>(&Now).CreateAnd(Comes, On) : On;
    }
    if (Comes)
      Result = Result ? IRBuilder<>(&Now).CreateOr(Result, Comes) : Comes;
  }
  return Result;
}

Value *LaterValues::get(Value *V) { return get(V, *Reached); }

Value *LaterValues::load(LoadInst &Load, const Moment &M) {
  const DataLayout &Layout = Load.getDataLayout();
  const LocalAddress From =
      localAddress(*Load.getPointerOperand(), Layout).value_or(LocalAddress());
  IRBuilder<> Builder(&Now);
  Value *Offset = Builder.getInt64(static_cast<uint64_t>(From.Offset));
  for (const auto &[Index, Scale] : From.Indices)
    Offset = Builder.CreateAdd(
        Offset,
        Builder.CreateMul(
            Builder.CreateSExtOrTrunc(get(Index, M), Builder.getInt64Ty()),
            Builder.getInt64(static_cast<uint64_t>(Scale))));
  const uint64_t Size = Layout.getTypeStoreSize(Load.getType());
  const uint64_t Whole =
      Layout.getTypeAllocSize(From.Variable->getAllocatedType());
  Offset = Builder.CreateFreeze(Offset);
  Value *Inside = Builder.CreateICmpULE(Offset, Builder.getInt64(Whole - Size));
  Offset = Builder.CreateSelect(Inside, Offset, Builder.getInt64(0));
  Value *Address =
      Builder.CreateGEP(Builder.getInt8Ty(), From.Variable, Offset);
  return Builder.CreateFreeze(
      Builder.CreateAlignedLoad(Load.getType(), Address, Align(1)));
}

Value *LaterValues::get(Value *V, const Moment &M) {
  if (Known && V == Known)
    return Given;
  if (isThere(V, M))
    return V;
  if (auto It = Made.find({&M, V}); It != Made.end())
    return It->second;
  Value *Result;
  if (auto *Phi = dyn_cast<PHINode>(V)) {
    const Moment &First = at(*Phi->getParent(), true, M);
    Result = get(incoming(*Phi, First), First);
  } else if (auto *Load = dyn_cast<LoadInst>(V)) {
    Result = load(*Load, M);
  } else {
    Instruction *Copy = cast<Instruction>(V)->clone();
    for (Use &Operand : Copy->operands())
      if (!(isa<CallInst>(Copy) && isa<Function>(Operand)))
        Operand.set(get(Operand, M));
    Copy->dropPoisonGeneratingAnnotations();
    Copy->insertBefore(Now.getIterator());
    Copy->setDebugLoc(Now.getDebugLoc());
    Result = Copy;
  }
  return Made[{&M, V}] = Result;
}

Value *LaterValues::reached() {
  if (AnyTime || Reached->Within)
    return nullptr;
  // Blocks from which it can be reached.
  auto LeadsThere = [&](const BasicBlock *B) {
    return B == Reached->To ||
           (Reached->Entered.contains(B) && !Reached->Stops.contains(B));
  };
  Value *Result = nullptr;
  auto Check = [&](const BasicBlock &B) {
    auto *Branch = dyn_cast<BranchInst>(B.getTerminator());
    if (!Branch || !Branch->isConditional() || &B == Reached->To)
      return;
    const bool First = LeadsThere(Branch->getSuccessor(0)),
               Second = LeadsThere(Branch->getSuccessor(1));
    if (First == Second)
      return;
    const bool Again = Reached->Entered.contains(&B);
    if (Again ? !passesOnce(B, *Reached) : &B != Now.getParent())
      return;
    const Moment &M = at(B, false, *Reached);
    if (!has(Branch->getCondition(), M, 0))
      return;
    Value *On = isTaken({&M, Branch->getCondition(), First});
    Result = Result ? IRBuilder<>(&Now).CreateAnd(Result, On) : On;
  };
  Check(*Now.getParent());
  for (const BasicBlock &B : *Now.getFunction())
    if (Reached->Entered.contains(&B) && &B != Now.getParent())
      Check(B);
  return Result;
}

} // namespace dragon
