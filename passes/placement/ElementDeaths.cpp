//===- ElementDeaths.cpp - the end of an element of an array --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/ElementDeaths.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

namespace {

// More different ranges than that at one block: too many to follow.
constexpr size_t MaxRanges = 8;

/// Of indices, both ends included.
struct Range {
  Bound Lowest, Highest;

  /// No element has an index below 0.
  bool fromFirst() const { return Lowest.Base == 0 && Lowest.Plus <= 0; }
  bool surelyEmpty() const { return Highest.surelyLess(Lowest); }
  bool surelyLacks(const Range &Other) const {
    return Other.Highest.surelyLess(Lowest) || Highest.surelyLess(Other.Lowest);
  }
  bool surelyHolds(const Range &Other) const {
    return Lowest.surelyAtMost(Other.Lowest) &&
           Other.Highest.surelyAtMost(Highest);
  }
  /// Takes away what is at an end. If Other is empty, some may be added, which
  /// does no harm. Returns whether something changed.
  bool remove(const Range &Other) {
    if (Other.fromFirst() || Other.Lowest.surelyAtMost(Lowest))
      Lowest = Other.Highest.plus(1);
    else if (Highest.surelyAtMost(Other.Highest))
      Highest = Other.Lowest.plus(-1);
    else
      return false;
    return true;
  }
};

class ElementSearch {
public:
  ElementSearch(const BufferProgram &Program, const FlowGraph &Graph,
                unsigned Buffer)
      : Program(Program), Graph(Graph), Buffer(Buffer) {
    for (const CountedLoop &L : Program.Loops)
      Inside.push_back(blocksOf(L));
  }

  /// Whether the element is dead after the event, if Tests are passed.
  bool isDead(EventRef After, ElementIndex Element,
              std::vector<EventRef> &Tests);

private:
  const BufferUse *use(EventRef At) const {
    return Program.event(At).find(Buffer);
  }
  BitVector blocksOf(const CountedLoop &L) const;
  template <typename Visit> bool everyUse(const BitVector &Blocks, Visit V);
  bool slidesPast(EventRef After, unsigned Loop, int64_t Offset);
  void leave(unsigned Loop, Range Of, ArrayRef<EventRef> Writers);
  bool follow();
  bool block(unsigned Block, unsigned From, Range Of);
  bool loop(unsigned Loop, Range Of);
  bool countsElements(unsigned Loop) const;
  void enter(unsigned Block, Range Of);
  Range rangeOf(const CountedLoop &L, int64_t Offset) const {
    return L.Step > 0 ? Range{L.First.plus(Offset), L.End.plus(Offset - 1)}
                      : Range{L.End.plus(Offset + 1), L.First.plus(Offset)};
  }
  bool everyIteration(EventRef At, unsigned Loop) const;
  void test(EventRef At) {
    if (!is_contained(*Tests, At))
      Tests->push_back(At);
  }

  const BufferProgram &Program;
  const FlowGraph &Graph;
  const unsigned Buffer;
  std::vector<BitVector> Inside; ///< of each loop, its blocks
  std::vector<EventRef> *Tests = nullptr;
  std::vector<std::vector<Range>> Entered; ///< of each block
  std::vector<std::pair<unsigned, Range>> Pending;
  bool TooMany = false;
};

/// Without an edge back: the header alone.
BitVector ElementSearch::blocksOf(const CountedLoop &L) const {
  BitVector Result = Graph.naturalLoop(L.Header);
  Result.set(L.Header);
  return Result;
}

/// Stops at the first use for which it is not so.
template <typename Visit>
bool ElementSearch::everyUse(const BitVector &Blocks, Visit V) {
  for (unsigned B : Blocks.set_bits())
    for (unsigned I = 0; I < Program.Blocks[B].Events.size(); ++I)
      if (const BufferUse *U = use({B, I}); U && !V(EventRef{B, I}, *U))
        return false;
  return true;
}

/// Whether what follows in the loop, in this iteration and the others, does not
/// read the element at Offset from this iteration's counter.
bool ElementSearch::slidesPast(EventRef After, unsigned Loop, int64_t Offset) {
  const CountedLoop &L = Program.Loops[Loop];
  // What follows in the same iteration.
  BitVector Same(Program.Blocks.size());
  SmallVector<unsigned, 8> Next;
  append_range(Next, Program.Blocks[After.Block].Successors);
  while (!Next.empty()) {
    unsigned B = Next.pop_back_val();
    if (B == L.Header || !Inside[Loop][B] || Same[B])
      continue;
    Same.set(B);
    append_range(Next, Program.Blocks[B].Successors);
  }
  return everyUse(Inside[Loop], [&](EventRef At, const BufferUse &U) {
    if (Program.event(At).is<AllocateEvent>())
      return false;
    if (!U.Reads)
      return true;
    if (!U.Element || U.Element->Loop != static_cast<int>(Loop))
      return false;
    const int64_t Distance = Offset - U.Element->At.Plus;
    const bool Follows =
        Same[At.Block] || (At.Block == After.Block && At.Index > After.Index);
    return (Distance != 0 || !Follows) && Distance * L.Step < 1;
  });
}

void ElementSearch::enter(unsigned Block, Range Of) {
  if (Of.surelyEmpty())
    return;
  std::vector<Range> &Known = Entered[Block];
  if (any_of(Known, [&](const Range &R) { return R.surelyHolds(Of); }))
    return;
  TooMany |= Known.size() == MaxRanges;
  if (TooMany)
    return;
  Known.push_back(Of);
  Pending.emplace_back(Block, Of);
}

/// Whether it happens in each iteration that is followed by another.
bool ElementSearch::everyIteration(EventRef At, unsigned Loop) const {
  const CountedLoop &L = Program.Loops[Loop];
  return all_of(Graph.predecessors()[L.Header], [&](unsigned P) {
    return !Inside[Loop][P] || Graph.dominates(At.Block, P);
  });
}

/// Behind a loop; the writers are those of each iteration.
void ElementSearch::leave(unsigned Loop, Range Of, ArrayRef<EventRef> Writers) {
  const CountedLoop &L = Program.Loops[Loop];
  for (unsigned From : Inside[Loop].set_bits()) {
    for (unsigned To : Program.Blocks[From].Successors) {
      if (Inside[Loop][To])
        continue;
      Range Left = Of;
      const CountedLoop::Exit *Known = nullptr;
      for (const CountedLoop::Exit &E : L.Exits)
        if (E.From == From && E.To == To)
          Known = &E;
      if (From == L.Header || Known) {
        for (EventRef W : Writers) {
          CountedLoop Passed = L;
          const BufferUse *U = use(W);
          if (!U || !U->Element)
            continue;
          if (From != L.Header && Known) {
            // Complete up to this iteration, and with it if the write is made
            // in front of the exit.
            const bool Done = Graph.dominates(W.Block, From);
            Passed.End = Known->At.plus(Done ? L.Step : 0);
          }
          if (Left.remove(rangeOf(Passed, U->Element->At.Plus)))
            test(W);
        }
      }
      enter(To, Left);
    }
  }
}

bool ElementSearch::countsElements(unsigned Loop) const {
  for (unsigned B : Inside[Loop].set_bits())
    for (unsigned I = 0; I < Program.Blocks[B].Events.size(); ++I)
      if (const BufferUse *U = use({B, I});
          U && U->Element && U->Element->Loop == static_cast<int>(Loop))
        return true;
  return false;
}

/// All iterations, from the header on.
bool ElementSearch::loop(unsigned Loop, Range Of) {
  const CountedLoop &L = Program.Loops[Loop];
  SmallVector<EventRef, 2> Writers;
  everyUse(Inside[Loop], [&](EventRef At, const BufferUse &U) {
    if (U.Testable && !U.Reads && U.MustElement &&
        U.Element->Loop == static_cast<int>(Loop) && everyIteration(At, Loop))
      Writers.push_back(At);
    return true;
  });
  // Whether the elements in the range are written before the read comes to
  // them: in iterations that there are, before its own.
  auto Precedes = [&](EventRef W, EventRef Read, int64_t Offset) {
    const int64_t Written = use(W)->Element->At.Plus;
    const int64_t Ahead = L.Step * (Written - Offset);
    if (Ahead < 0 || (Ahead == 0 && !Graph.dominates(W, Read)))
      return false;
    return L.Step > 0 ? L.First.plus(Written).surelyAtMost(Of.Lowest) ||
                            rangeOf(L, Written).fromFirst()
                      : Of.Highest.surelyAtMost(L.First.plus(Written));
  };
  bool Fine = everyUse(Inside[Loop], [&](EventRef At, const BufferUse &U) {
    if (Program.event(At).is<AllocateEvent>())
      return false;
    if (!U.Reads)
      return true;
    if (!U.Element)
      return false;
    if (U.Element->Loop < 0)
      return Of.surelyLacks({U.Element->At, U.Element->At});
    if (U.Element->Loop != static_cast<int>(Loop))
      return false;
    const int64_t Offset = U.Element->At.Plus;
    if (Of.surelyLacks(rangeOf(L, Offset)))
      return true;
    for (EventRef W : Writers)
      if (Precedes(W, At, Offset)) {
        test(W);
        return true;
      }
    return false;
  });
  if (Fine)
    leave(Loop, Of, Writers);
  return Fine;
}

bool ElementSearch::block(unsigned Block, unsigned From, Range Of) {
  const dragon::Block &B = Program.Blocks[Block];
  for (unsigned I = From; I < B.Events.size(); ++I) {
    const BufferUse *U = use({Block, I});
    if (!U)
      continue;
    if (B.Events[I].is<AllocateEvent>())
      return false;
    const bool Number = U->Element && U->Element->Loop < 0;
    if (U->Reads) {
      if (!Number || !Of.surelyLacks({U->Element->At, U->Element->At}))
        return false;
    } else if (Number && U->Testable && U->MustElement) {
      if (Of.remove({U->Element->At, U->Element->At}))
        test({Block, I});
      if (Of.surelyEmpty())
        return true;
    }
  }
  for (unsigned S : B.Successors)
    enter(S, Of);
  return true;
}

bool ElementSearch::follow() {
  while (!Pending.empty() && !TooMany) {
    auto [Block, Of] = Pending.back();
    Pending.pop_back();
    int Counted = -1;
    for (unsigned L = 0; L < Program.Loops.size(); ++L)
      if (Program.Loops[L].Header == Block && countsElements(L))
        Counted = static_cast<int>(L);
    if (Counted >= 0 ? !loop(static_cast<unsigned>(Counted), Of)
                     : !block(Block, 0, Of))
      return false;
  }
  return !TooMany;
}

bool ElementSearch::isDead(EventRef After, ElementIndex Element,
                           std::vector<EventRef> &Given) {
  Tests = &Given;
  Entered.assign(Program.Blocks.size(), {});
  Pending.clear();
  TooMany = false;
  // The rest of another loop would not be seen as a whole.
  for (unsigned L = 0; L < Program.Loops.size(); ++L)
    if (static_cast<int>(L) != Element.Loop && Inside[L][After.Block] &&
        countsElements(L))
      return false;
  if (Element.Loop < 0) {
    return block(After.Block, After.Index + 1, {Element.At, Element.At}) &&
           follow();
  }
  const auto Loop = static_cast<unsigned>(Element.Loop);
  const int64_t Offset = Element.At.Plus;
  if (!slidesPast(After, Loop, Offset))
    return false;
  leave(Loop, rangeOf(Program.Loops[Loop], Offset), {});
  return follow();
}

} // namespace

std::vector<ElementDeath> elementDeaths(const BufferProgram &Program,
                                        const FlowGraph &Graph) {
  std::vector<ElementDeath> Result;
  for (unsigned B = 0; B < Program.Buffers.size(); ++B) {
    const Buffer &Of = Program.Buffers[B];
    if (!Of.IsArray || Of.Escapes || Of.Kind != BufferKind::Device)
      continue;
    ElementSearch Paths(Program, Graph, B);
    for (EventRef At : Program.uses(B)) {
      const Event &E = Program.event(At);
      const BufferUse &U = *E.find(B);
      if (!E.is<LaunchEvent>() || !U.Reads || !U.Element ||
          !Graph.reachable(At.Block) || Program.Blocks[At.Block].Fails)
        continue;
      ElementDeath Death{B, At, *U.Element, {}};
      if (Paths.isDead(At, Death.Element, Death.Tests))
        Result.push_back(std::move(Death));
    }
  }
  return Result;
}

} // namespace dragon
