//===- LoopChoice.cpp - along which loops a kernel is cut -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/LoopChoice.h"

#include "passes/Remarks.h"
#include "passes/SourceNames.h"
#include "passes/slicing/AccessesBehind.h"
#include "passes/slicing/LoopChain.h"
#include "passes/slicing/LoopLegality.h"
#include "passes/slicing/LoopSlicing.h"
#include "passes/slicing/LoopWorth.h"
#include "passes/slicing/LoopsOfCallees.h"
#include "passes/support/ExtraParameters.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace dragon {

namespace {

constexpr const char *NoRoom =
    "the kernel's parameters leave no room for the state";

/// What happens with the first and with the last iterations alone. What is read
/// in front of the loop may be read in each launch.
void placeAccesses(KernelSummary &Summary, uint32_t Loop) {
  Summary.LoopNumbers = {Loop};
  for (PointerSummary &Pointer : Summary.Pointers)
    for (AccessSummary &Access : Pointer.Accesses)
      for (auto [Number, Place] : Access.Beside)
        if (Number == Loop &&
            (Place == LoopPlace::Last || (Access.Flags & AccessWrite)))
          Access.Place = Place;
}

/// One of several loops: the number that counts its iterations, and the one
/// that counts the rounds of the loop around it; NoIndex: there is none.
struct LoopNumbers {
  uint32_t Own, Around;

  uint32_t outermost() const { return Around == NoIndex ? Own : Around; }
};

/// The same of several loops.
void placeAccess(AccessSummary &Access, ArrayRef<LoopNumbers> Loops,
                 const ExprPool &Exprs) {
  const auto All = uint8_t(Loops.size());
  // It is behind those before `First`, and not behind `Last`.
  uint8_t First = 0, Last = All - 1;
  bool InFront = false;
  for (uint8_t I = 0; I < All; ++I)
    if (Exprs.counts(Access, Loops[I].Own)) {
      Access.FirstLoop = Access.LastLoop = I;
      return;
    }
  for (uint8_t I = 0; I < All; ++I) {
    const uint32_t Around = Loops[I].Around;
    if (Around != NoIndex && Exprs.counts(Access, Around)) {
      Access.FirstLoop = Access.LastLoop = I;
      while (Access.LastLoop < All - 1 &&
             Loops[Access.LastLoop + 1].Around == Around)
        ++Access.LastLoop;
      return;
    }
    for (auto [Number, Place] : Access.Beside) {
      if (Number != Loops[I].outermost())
        continue;
      if (Place == LoopPlace::Last) {
        First = I + 1;
      } else if (I <= Last && !InFront) {
        Last = I;
        InFront = true;
      }
    }
  }
  if (First == All) {
    Access.Place = LoopPlace::Last;
    return;
  }
  if (!(Access.Flags & AccessWrite))
    Last = All - 1;
  else if (InFront && First == Last)
    Access.Place = LoopPlace::First;
  Access.FirstLoop = First <= Last ? First : 0;
  Access.LastLoop = First <= Last ? Last : All - 1;
}

void placeAccesses(KernelSummary &Summary, ArrayRef<LoopNumbers> Loops,
                   const ExprPool &Exprs) {
  bool HasRounds = false;
  for (const LoopNumbers &L : Loops) {
    Summary.LoopNumbers.push_back(L.Own);
    Summary.LoopRounds.push_back(L.Around == NoIndex ? 0 : L.Around + 1);
    HasRounds |= L.Around != NoIndex;
  }
  for (PointerSummary &Pointer : Summary.Pointers) {
    uint8_t Does = 0;
    bool Apart = HasRounds;
    for (AccessSummary &Access : Pointer.Accesses) {
      placeAccess(Access, Loops, Exprs);
      Does |= Access.Flags;
      const AccessSummary &First = Pointer.Accesses.front();
      Apart |= Access.FirstLoop != Access.LastLoop ||
               Access.FirstLoop != First.FirstLoop ||
               Access.Place != LoopPlace::Any;
    }
    // What one loop writes before another one reads it is there when that
    // begins, and what a round writes in the next one.
    if (Apart && (Does & AccessRead) && (Does & AccessWrite))
      Pointer.Flags |= PointerReadBeforeWrite;
  }
}

bool hasRoomForParameters(const Function &Kernel, const KernelSummary &Summary,
                          size_t Loops) {
  // And those of a slice clone.
  uint64_t Bytes = (5 + Loops) * sizeof(uint64_t) + 7 * sizeof(uint32_t);
  for (uint32_t Size : Summary.ArgSizes)
    Bytes += Size + 8;
  return Bytes <= MaxParameterBytes && !Kernel.isVarArg();
}

/// A loop that is worth a cut.
struct Candidate {
  TaggedLoop Tagged;
  unsigned Worth;
  Loop *L;
  std::string Cause; ///< why it alone cannot be cut; empty: it can
  /// It is to be cut in each round of this loop around it.
  std::optional<TaggedLoop> Around;
};

class Chooser {
public:
  Chooser(Function &Kernel, Function &Code, KernelSummary &Summary,
          const ExprPool &Exprs, bool Reports)
      : Kernel(Kernel), Code(Code), Summary(Summary), Exprs(Exprs),
        Reports(Reports), DT(Code), LI(DT) {}

  bool choose(ArrayRef<TaggedLoop> Loops);

private:
  void report(const DILocation *Loop, Reason Why);
  void reject(const DILocation *Loop, std::string Cause) {
    report(Loop,
           Reason(RemarkId::NotLoopSliced).with("Cause", std::move(Cause)));
  }
  void find(ArrayRef<TaggedLoop> Loops);
  void findNests(ArrayRef<TaggedLoop> Loops);
  SmallVector<const Candidate *, 4> together() const;
  std::string whyNot(LoopLegality &Legality, uint32_t Number);
  std::string cutAll();
  bool cutBest(const std::string &WhyNotAll);

  Function &Kernel, &Code;
  KernelSummary &Summary;
  const ExprPool &Exprs;
  const bool Reports;
  DominatorTree DT;
  LoopInfo LI;
  SmallVector<Candidate, 4> Candidates; ///< in their order
};

void Chooser::report(const DILocation *Loop, Reason Why) {
  if (!Reports)
    return;
  OptimizationRemarkEmitter Emitter(&Kernel);
  const DILocation *At = outOfLibraries(Loop);
  emitRemark(Emitter,
             std::move(Why).with("Kernel", displayName(Kernel.getName())),
             At ? DiagnosticLocation(DebugLoc(At)) : lineOf(Kernel),
             &Kernel.getEntryBlock());
}

void Chooser::find(ArrayRef<TaggedLoop> Loops) {
  DenseMap<BasicBlock *, unsigned> Order;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&Code))
    Order.try_emplace(Block, Order.size());
  for (const TaggedLoop &Tagged : Loops) {
    const unsigned Worth = loopWorth(Summary, Exprs, Tagged.Number);
    if (!Worth)
      continue;
    if (Tagged.IsSeveral)
      reject(nullptr, "it is in a function that the kernel calls from several "
                      "places, and a copy for each makes the kernel too large");
    else if (Loop *L = loopOfTag(LI, Tagged.Tag))
      Candidates.push_back({Tagged, Worth, L, "", {}});
  }
  // What is behind a loop may come in front of what is in it in that order.
  auto PlaceOf = [&](const Candidate &C) {
    return std::pair(Order.lookup(C.L->getOutermostLoop()->getHeader()),
                     Order.lookup(C.L->getHeader()));
  };
  llvm::sort(Candidates, [&](const Candidate &A, const Candidate &B) {
    return PlaceOf(A) < PlaceOf(B);
  });
}

/// The loops that are to be cut in each round of an outermost loop.
void Chooser::findNests(ArrayRef<TaggedLoop> Loops) {
  for (Candidate &C : Candidates) {
    const Loop *Around = C.L->getParentLoop();
    if (!Around || Around->getParentLoop())
      continue;
    // In a loop that goes through data it may be there to fill a table.
    if (C.Worth <= WorthOfBlockSteps && any_of(Candidates, [&](const auto &O) {
          return O.L == Around && O.Worth > WorthOfBlockSteps;
        }))
      continue;
    const auto *Tagged = find_if(Loops, [&](const TaggedLoop &L) {
      return !L.IsSeveral && tagOf(*Around) == L.Tag;
    });
    if (Tagged != Loops.end() &&
        isWorthInRounds(Summary, Exprs, C.Tagged.Number, Tagged->Number))
      C.Around = *Tagged;
  }
}

/// The outermost loops, or in their place those inside of them that are to be
/// cut in each round. Beside a loop that goes through data, one that may fill a
/// table of the block is none.
SmallVector<const Candidate *, 4> Chooser::together() const {
  SmallVector<const Candidate *, 4> Found;
  unsigned Most = 0;
  for (const Candidate &C : Candidates) {
    const bool HasRounds = any_of(Candidates, [&C](const Candidate &Inner) {
      return Inner.Around && C.L->contains(Inner.L) && C.L != Inner.L;
    });
    if (HasRounds || (C.L->getParentLoop() && !C.Around))
      continue;
    Found.push_back(&C);
    Most = std::max(Most, C.Worth);
  }
  if (Most > WorthOfBlockSteps)
    erase_if(Found,
             [](const Candidate *C) { return C->Worth <= WorthOfBlockSteps; });
  return Found;
}

/// All that are to be cut together. Why not, in words for the user; empty:
/// done.
std::string Chooser::cutAll() {
  const SmallVector<const Candidate *, 4> All = together();
  if (All.size() > MaxLoops)
    return "more than " + std::to_string(MaxLoops) +
           " loops of the kernel go through data";
  if (!hasRoomForParameters(Kernel, Summary, 2 * All.size()))
    return NoRoom;
  ValueToValueMapTy Map;
  Function *Chained = CloneFunction(&Code, Map);
  const scope_exit Erase([&] { Chained->eraseFromParent(); });
  LoopChain Chain;
  {
    DominatorTree Tree(*Chained);
    LoopInfo Info(Tree);
    SmallVector<ChainedLoop, 4> Loops;
    for (const Candidate *C : All)
      Loops.push_back({loopOfTag(Info, C->Tagged.Tag),
                       C->Around ? loopOfTag(Info, C->Around->Tag) : nullptr});
    if (const char *Why = chainLoops(*Chained, Loops, Chain))
      return Why;
  }
  DominatorTree Tree(*Chained);
  LoopInfo Info(Tree);
  Loop &L = *Info.getLoopFor(Chain.Where->getParent());
  LoopLegality Legality(*Chained, L, Tree, Summary);
  if (std::string Why = Legality.whyNot(); !Why.empty())
    return Why;
  SmallVector<LoopNumbers, 4> Numbers;
  for (const Candidate *C : All)
    Numbers.push_back(
        {C->Tagged.Number, C->Around ? C->Around->Number : uint32_t(NoIndex)});
  placeAccesses(Summary, Numbers, Exprs);
  placeAccessesBehind(*Chained, L, Legality.blocks(), Tree, Summary);
  addLoopCopy(Kernel, {*Chained, L, Legality, &Chain}, Summary);
  for (const Candidate *C : All)
    report(C->L->getStartLoc(), Reason(RemarkId::LoopSliced));
  return "";
}

std::string Chooser::whyNot(LoopLegality &Legality, uint32_t Number) {
  if (std::string Why = Legality.whyNot(); !Why.empty())
    return Why;
  if (const char *Why = FirstLaunch::obstacleIn(Summary, Number))
    return Why;
  return hasRoomForParameters(Kernel, Summary, 0) ? "" : NoRoom;
}

bool Chooser::cutBest(const std::string &WhyNotAll) {
  const Candidate *Best = nullptr;
  std::optional<LoopLegality> Legality;
  for (Candidate &C : Candidates) {
    LoopLegality Its(Code, *C.L, DT, Summary);
    C.Cause = whyNot(Its, C.Tagged.Number);
    if (C.Cause.empty() && (!Best || C.Worth > Best->Worth)) {
      Best = &C;
      Legality.emplace(std::move(Its));
    }
  }
  bool Told = Best;
  for (const Candidate &C : Candidates) {
    std::string Why = C.Cause;
    if (&C != Best && !WhyNotAll.empty())
      Why = WhyNotAll;
    if (Why.empty() || (C.L->getParentLoop() && !C.Around))
      continue;
    Told = true;
    reject(C.L->getStartLoc(), std::move(Why));
  }
  if (!Told && !Candidates.empty())
    reject(Candidates.front().L->getStartLoc(), Candidates.front().Cause);
  if (!Best || !Legality)
    return false;
  report(Best->L->getStartLoc(), Reason(RemarkId::LoopSliced));
  placeAccesses(Summary, Best->Tagged.Number);
  placeAccessesBehind(Code, *Best->L, Legality->blocks(), DT, Summary);
  addLoopCopy(Kernel, {Code, *Best->L, *Legality, nullptr}, Summary);
  return true;
}

bool Chooser::choose(ArrayRef<TaggedLoop> Loops) {
  find(Loops);
  findNests(Loops);
  if (const DILocation *At = loopOfRecursion(Kernel))
    reject(At, "it is in a function that calls itself");
  std::string WhyNotAll;
  if (const auto All = together();
      All.size() > 1 ||
      any_of(All, [](const Candidate *C) { return C->Around.has_value(); })) {
    WhyNotAll = cutAll();
    if (WhyNotAll.empty())
      return true;
  }
  return cutBest(WhyNotAll);
}

} // namespace

bool addLoopSlices(Function &Kernel, KernelSummary &Summary,
                   const ExprPool &Exprs, ArrayRef<TaggedLoop> Loops,
                   bool Reports) {
  SmallVector<TaggedLoop, 8> Single;
  copy_if(Loops, std::back_inserter(Single),
          [](const TaggedLoop &L) { return !L.IsSeveral; });
  Function *WithCallees = withLoopsOfCallees(Kernel, Single);
  const scope_exit Erase([&] {
    if (WithCallees)
      WithCallees->eraseFromParent();
  });
  return Chooser(Kernel, WithCallees ? *WithCallees : Kernel, Summary, Exprs,
                 Reports)
      .choose(Loops);
}

} // namespace dragon
