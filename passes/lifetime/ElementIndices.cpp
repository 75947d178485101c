//===- ElementIndices.cpp - arrays of buffers, and who walks through them -===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cudaMalloc in a loop makes several buffers. They are an array if their
// addresses go nowhere but to a local array of pointers, to the element that
// the loop's counter says, and nothing else is ever stored there. Then a
// pointer loaded from the array is the buffer of that index, and no other.
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/ElementIndices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace dragon {

namespace {

const Value *stripExtensions(const Value *V) {
  while (isa<SExtInst, ZExtInst>(V))
    V = cast<CastInst>(V)->getOperand(0);
  return V;
}

/// V as another value plus a constant, where that cannot overflow.
const Value *splitSum(const Value *V, int64_t &Plus) {
  V = stripExtensions(V);
  auto *Sum = dyn_cast<OverflowingBinaryOperator>(V);
  auto *Constant = Sum ? dyn_cast<ConstantInt>(Sum->getOperand(1)) : nullptr;
  if (!Constant || !Sum->hasNoSignedWrap() ||
      Constant->getValue().getSignificantBits() > 32)
    return V;
  if (Sum->getOpcode() == Instruction::Add)
    Plus += Constant->getSExtValue();
  else if (Sum->getOpcode() == Instruction::Sub)
    Plus -= Constant->getSExtValue();
  else
    return V;
  return splitSum(Sum->getOperand(0), Plus);
}

/// The variable in which the addresses are kept, and at which index; Index is
/// null for a constant.
struct Slot {
  const AllocaInst *Variable;
  const Value *Index;
  int64_t Plus;
};

std::optional<Slot> slotOf(const Value *Address, const DataLayout &Layout) {
  Slot Result{nullptr, nullptr, 0};
  const Value *Base = Address;
  while (auto *Step = dyn_cast<GEPOperator>(Base)) {
    APInt Constant(64, 0);
    SmallMapVector<Value *, APInt, 4> Variable;
    if (!Step->collectOffset(Layout, 64, Variable, Constant) ||
        Variable.size() > 1 || Constant.getSExtValue() % 8)
      return std::nullopt;
    Result.Plus += Constant.getSExtValue() / 8;
    for (const auto &[Index, Scale] : Variable) {
      if (Result.Index || Scale != 8)
        return std::nullopt;
      Result.Index = Index;
    }
    Base = Step->getPointerOperand();
  }
  Result.Variable = dyn_cast<AllocaInst>(Base);
  auto *Array = Result.Variable
                    ? dyn_cast<ArrayType>(Result.Variable->getAllocatedType())
                    : nullptr;
  if (!Array || !Array->getElementType()->isPointerTy() ||
      !Result.Variable->isStaticAlloca())
    return std::nullopt;
  return Result;
}

/// What is stored in the variable, if nothing but loads, stores and zeroes
/// refers to it.
bool collectStores(const Value &Address,
                   SmallVectorImpl<const StoreInst *> &Stores) {
  return all_of(Address.uses(), [&](const Use &U) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Load = dyn_cast<LoadInst>(I))
      return Load->isSimple();
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      Stores.push_back(Store);
      return Store->isSimple() &&
             U.getOperandNo() == StoreInst::getPointerOperandIndex();
    }
    if (auto *Fill = dyn_cast<MemSetInst>(I)) {
      auto *Byte = dyn_cast<ConstantInt>(Fill->getValue());
      return Byte && Byte->isZero();
    }
    if (isa<GetElementPtrInst>(I))
      return collectStores(*I, Stores);
    return I->isLifetimeStartOrEnd();
  });
}

} // namespace

std::optional<Bound> ElementIndices::boundOf(const Value *V) {
  Bound Result;
  V = splitSum(V, Result.Plus);
  if (auto *Constant = dyn_cast<ConstantInt>(V)) {
    if (Constant->getValue().getSignificantBits() > 32)
      return std::nullopt;
    Result.Plus += Constant->getSExtValue();
    return Result;
  }
  // One that is computed once.
  auto *I = dyn_cast<Instruction>(V);
  if (!isa<Argument>(V) && (!I || Facts.inCycle(*I)))
    return std::nullopt;
  auto [It, New] =
      Numbers.try_emplace(V, static_cast<NumberId>(Numbers.size() + 1));
  if (New)
    Facts.Result.Numbers.push_back(V);
  Result.Base = It->second;
  return Result;
}

/// `for (i = first; i < end; ++i)`, `for (i = first; i >= last; --i)`.
void ElementIndices::addLoop(const Loop &L) {
  const BasicBlock *Header = L.getHeader(), *Latch = L.getLoopLatch(),
                   *Before = L.getLoopPredecessor();
  auto *Branch = dyn_cast<BranchInst>(Header->getTerminator());
  if (!Facts.BlockOf.count(Header) || !Latch || !Before || !Branch ||
      !Branch->isConditional())
    return;
  auto *Test = dyn_cast<ICmpInst>(Branch->getCondition());
  if (!Test || L.contains(Branch->getSuccessor(0)) ==
                   L.contains(Branch->getSuccessor(1)))
    return;
  CmpInst::Predicate Stays = L.contains(Branch->getSuccessor(0))
                                 ? Test->getPredicate()
                                 : Test->getInversePredicate();
  const Value *Counted = stripExtensions(Test->getOperand(0)),
              *Against = Test->getOperand(1);
  auto *Counter = dyn_cast<PHINode>(Counted);
  if (!Counter || Counter->getParent() != Header) {
    Counter = dyn_cast<PHINode>(stripExtensions(Against));
    Against = Test->getOperand(0);
    Stays = CmpInst::getSwappedPredicate(Stays);
  }
  if (!Counter || Counter->getParent() != Header)
    return;
  CountedLoop New;
  int64_t Step = 0;
  if (splitSum(Counter->getIncomingValueForBlock(Latch), Step) != Counter ||
      (Step != 1 && Step != -1))
    return;
  New.Step = static_cast<int>(Step);
  std::optional<Bound> First =
      boundOf(Counter->getIncomingValueForBlock(Before));
  std::optional<Bound> Last = boundOf(Against);
  if (!First || !Last)
    return;
  New.First = *First;
  if (Step > 0 && Stays == CmpInst::ICMP_SLT)
    New.End = *Last;
  else if (Step > 0 && Stays == CmpInst::ICMP_SLE)
    New.End = Last->plus(1);
  else if (Step < 0 && Stays == CmpInst::ICMP_SGT)
    New.End = *Last;
  else if (Step < 0 && Stays == CmpInst::ICMP_SGE)
    New.End = Last->plus(-1);
  else
    return;
  New.Header = Facts.BlockOf[Header];
  New.Name = "l" + std::to_string(Facts.Result.Program.Loops.size());
  // `if (i == 0) break;`
  for (const BasicBlock *B : L.blocks()) {
    auto *Leave = dyn_cast<BranchInst>(B->getTerminator());
    if (B == Header || !Facts.BlockOf.count(B) || !Leave ||
        !Leave->isConditional())
      continue;
    auto *Compare = dyn_cast<ICmpInst>(Leave->getCondition());
    if (!Compare || !Compare->isEquality() ||
        stripExtensions(Compare->getOperand(0)) != Counter)
      continue;
    const BasicBlock *To = Leave->getSuccessor(
        Compare->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1);
    std::optional<Bound> At = boundOf(Compare->getOperand(1));
    if (At && !L.contains(To) &&
        Leave->getSuccessor(0) != Leave->getSuccessor(1))
      New.Exits.push_back({Facts.BlockOf[B], Facts.BlockOf[To], *At});
  }
  Facts.Result.Program.Loops.push_back(std::move(New));
  Facts.Result.Counters.push_back(Counter);
}

/// The index of a use in User, in the same iteration.
std::optional<ElementIndex> ElementIndices::indexOf(const Value *Index,
                                                    int64_t Plus,
                                                    const Instruction &User) {
  if (!Index)
    return ElementIndex{-1, {0, Plus}};
  const Value *V = splitSum(Index, Plus);
  for (unsigned L = 0; L < Facts.Result.Counters.size(); ++L)
    if (Facts.Result.Counters[L] == V) {
      const Loop *Of =
          Facts.Loops.getLoopFor(Facts.Result.Counters[L]->getParent());
      if (!Of->contains(User.getParent()))
        return std::nullopt;
      return ElementIndex{static_cast<int>(L), {0, Plus}};
    }
  std::optional<Bound> At = boundOf(Index);
  if (!At)
    return std::nullopt;
  // Plus has come from the index as well.
  int64_t OfIndex = 0;
  splitSum(Index, OfIndex);
  return ElementIndex{-1, At->plus(Plus - OfIndex)};
}

void ElementIndices::addArrays() {
  for (const Loop *L : Facts.Loops.getLoopsInPreorder())
    addLoop(*L);
  const std::vector<MemoryObject> &Objects = Facts.Pointers.objects();
  for (const auto &Entry : Facts.BufferOf) {
    const unsigned Object = Entry.first, B = Entry.second;
    Buffer &Of = Facts.Result.Program.Buffers[B];
    const BuiltProgram::BufferSite &Site = Facts.Result.Sites[B];
    if (!Of.IsSummary || Of.Escapes || Of.Kind != BufferKind::Device ||
        !Site.Pointer)
      continue;
    const StoreInst *Keeps = nullptr;
    bool Once = true;
    for (const User *U : Site.Pointer->users())
      if (auto *Store = dyn_cast<StoreInst>(U);
          Store && Store->getValueOperand() == Site.Pointer &&
          !isOutSlot(Store->getPointerOperand())) {
        Once &= !Keeps;
        Keeps = Store;
      }
    std::optional<Slot> To;
    if (Keeps && Once)
      To = slotOf(Keeps->getPointerOperand(), Facts.F.getDataLayout());
    SmallVector<const StoreInst *, 4> Stores;
    if (!To || !collectStores(*To->Variable, Stores) || Stores.size() != 1)
      continue;
    const unsigned *Variable = Facts.Pointers.objectOf(To->Variable);
    bool Elsewhere = !Variable;
    for (unsigned O = 0; O < Objects.size() && !Elsewhere; ++O)
      Elsewhere = O != *Variable &&
                  !(Objects[O].Kind == ObjectKind::Local &&
                    isOutSlot(Objects[O].Site)) &&
                  any_of(Facts.Pointers.contents(O),
                         [&](const Target &T) { return T.Object == Object; });
    // In each iteration of a loop that is run once, another element.
    std::optional<ElementIndex> At = indexOf(To->Index, To->Plus, *Keeps);
    const Loop *Inner = Facts.Loops.getLoopFor(Keeps->getParent());
    if (Elsewhere || !At || At->Loop < 0 || !Inner || Inner->getParentLoop() ||
        Inner->getHeader() != Facts.Result.Counters[At->Loop]->getParent() ||
        Facts.Loops.getLoopFor(Site.Call->getParent()) != Inner ||
        !Facts.Dominators.dominates(Site.Call, Keeps) ||
        Facts.inCycle(*Inner->getLoopPredecessor()->getTerminator()))
      continue;
    Of.IsArray = true;
    Facts.Result.Arrays[B] = const_cast<AllocaInst *>(To->Variable);
  }
}

/// Which element of the array B the pointer is if it is one at all, as far as
/// that is known. Surely: it is that, and begins where it begins.
std::optional<ElementIndex>
ElementIndices::elementOf(const Value *Pointer, unsigned Object, unsigned B,
                          const Instruction &User, bool &Surely,
                          unsigned Depth) {
  if (auto *Load = dyn_cast<LoadInst>(Pointer)) {
    std::optional<Slot> From =
        slotOf(Load->getPointerOperand(), Facts.F.getDataLayout());
    if (!From || From->Variable != Facts.Result.Arrays.lookup(B) ||
        Facts.Loops.getLoopFor(Load->getParent()) !=
            Facts.Loops.getLoopFor(User.getParent()))
      return std::nullopt;
    return indexOf(From->Index, From->Plus, User);
  }
  Surely = false;
  if (Depth == 4)
    return std::nullopt;
  if (auto *Address = dyn_cast<GEPOperator>(Pointer))
    return elementOf(Address->getPointerOperand(), Object, B, User, Surely,
                     Depth + 1);
  auto *Phi = dyn_cast<PHINode>(Pointer);
  if ((!Phi && !isa<SelectInst>(Pointer)) ||
      (Phi && Facts.Loops.isLoopHeader(Phi->getParent())))
    return std::nullopt;
  std::optional<ElementIndex> Result;
  for (const Use &U : cast<Instruction>(Pointer)->operands()) {
    TargetSet Targets = Facts.Pointers.pointsTo(U);
    if (none_of(Targets, [&](const Target &T) { return T.Object == Object; }))
      continue;
    std::optional<ElementIndex> One =
        elementOf(U, Object, B, User, Surely, Depth + 1);
    if (!One || (Result && !(*Result == *One)))
      return std::nullopt;
    Result = One;
  }
  return Result;
}

void ElementIndices::noteElement(BufferUse &Use, const CallBase &Call,
                                 const Value *Pointer, const Target &To,
                                 bool Only) {
  if (!Facts.Result.Program.Buffers[Use.Buffer].IsArray)
    return;
  bool Surely = Only && To.At == Place{0, 0};
  Use.Element = elementOf(Pointer, To.Object, Use.Buffer, Call, Surely);
  Use.MustElement = Use.Element && Surely;
}

} // namespace dragon
