//===- EdgeDeaths.cpp - what dies on some edges ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/EdgeDeaths.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

namespace {

class EdgeSearch {
public:
  EdgeSearch(const BufferProgram &Program, const FlowGraph &Graph,
             const PointerFlow &Pointers, const Liveness &Live,
             function_ref<bool(NameId, EventRef)> MayEnd)
      : Program(Program), Graph(Graph), Pointers(Pointers), Live(Live),
        MayEnd(MayEnd) {}

  std::vector<EdgeDeath> run();

private:
  /// What dies on each edge.
  using Dead = std::vector<std::pair<unsigned, SmallVector<NameId, 2>>>;

  SmallVector<NameId, 2> dying(const BitVector &Before, const BitVector &After,
                               EventRef Known);
  void atEntry(unsigned Block);
  void atSelects(EventRef At);
  void report(EventRef At, Dead Edges, int Select);
  bool covers(const Pointer &P, Dead &Edges);

  const BufferProgram &Program;
  const FlowGraph &Graph;
  const PointerFlow &Pointers;
  const Liveness &Live;
  function_ref<bool(NameId, EventRef)> MayEnd;
  std::vector<EdgeDeath> Result;
};

/// Known: where the names must be known.
SmallVector<NameId, 2> EdgeSearch::dying(const BitVector &Before,
                                         const BitVector &After,
                                         EventRef Known) {
  SmallVector<NameId, 2> Names;
  for (NameId Name : Before.set_bits()) {
    if (After[Name] || !Pointers.isKnown(Name, Known))
      continue;
    // By their own names, if they die whatever the pointer is.
    if (Program.pointer(Name) && !Pointers.buffers(Name).anyCommon(After))
      continue;
    if (MayEnd(Name, Known))
      Names.push_back(Name);
  }
  return Names;
}

/// Whether the pointer is one of those that die; takes it off each edge.
bool EdgeSearch::covers(const Pointer &P, Dead &Edges) {
  bool Any = false;
  for (auto &[From, Names] : Edges) {
    const Pointer::Incoming *In = P.from(From);
    if (!In || In->Names.size() != 1 || !is_contained(Names, In->Names[0]))
      continue;
    Names.erase(find(Names, In->Names[0]));
    Any = true;
  }
  return Any;
}

/// By pointers that there are, then by those to be made.
void EdgeSearch::report(EventRef At, Dead Edges, int Select) {
  const BitVector After =
      Select < 0 ? Live.liveIn(At.Block) : Live.liveBehindSelects(At);
  for (unsigned I = 0; I < Program.Pointers.size(); ++I) {
    const Pointer &P = Program.Pointers[I];
    const bool Here =
        Select < 0 ? P.isPhi() && P.Block == At.Block
                   : P.Block == At.Block && P.Index == At.Index &&
                         P.Condition == Program.Pointers[Select].Condition;
    const NameId Name = Program.nameOf(I);
    if (Here && !After[Name] && MayEnd(Name, At) && covers(P, Edges))
      Result.push_back({At, Select < 0, Name, {}, -1});
  }
  for (size_t I = 0;; ++I) {
    EdgeDeath Death{At, Select < 0, std::nullopt, {}, Select};
    for (const auto &[From, Names] : Edges)
      if (I < Names.size())
        Death.Edges.push_back({From, Names[I]});
    if (Death.Edges.empty())
      return;
    Result.push_back(std::move(Death));
  }
}

void EdgeSearch::atEntry(unsigned Block) {
  const BitVector In = Live.liveIn(Block);
  BitVector Before(In.size());
  Dead Edges;
  for (unsigned P : Graph.predecessors()[Block]) {
    const BitVector Out = Live.liveOut(P);
    Before |= Out;
    if (any_of(Edges, [&](const auto &W) { return W.first == P; }))
      continue;
    Edges.emplace_back(
        P, dying(Out, Live.liveOnEdge(P, Block),
                 {P, static_cast<unsigned>(Program.Blocks[P].Events.size())}));
  }
  // Those that die on all edges are told of there, and buffers by themselves.
  BitVector Everywhere(In.size());
  for (NameId Name : Before.set_bits())
    Everywhere[Name] = !In[Name];
  for (auto &[From, Names] : Edges)
    erase_if(Names, [&](NameId Name) { return Everywhere[Name]; });
  const EventRef Entry{Block, 0};
  for (NameId Name : dying(Before, In, Entry)) {
    const Pointer *P = Program.pointer(Name);
    if (P && P->Block != Block)
      Result.push_back({Entry, true, Name, {}, -1});
  }
  report(Entry, std::move(Edges), -1);
}

void EdgeSearch::atSelects(EventRef At) {
  SmallVector<int, 2> Done;
  for (unsigned I = 0; I < Program.Pointers.size(); ++I) {
    const Pointer &P = Program.Pointers[I];
    if (P.isPhi() || P.Block != At.Block || P.Index != At.Index ||
        is_contained(Done, P.Condition))
      continue;
    Done.push_back(P.Condition);
    const BitVector If[2] = {Live.liveIf(At, P.Condition, false),
                             Live.liveIf(At, P.Condition, true)};
    const BitVector After = Live.liveBehindSelects(At);
    Dead Edges;
    for (unsigned Given : {1, 0}) {
      SmallVector<NameId, 2> Names = dying(If[!Given], If[Given], At);
      // Also of those that are made there some may be made first.
      erase_if(Names, [&](NameId Name) {
        const Pointer *Of = Program.pointer(Name);
        return Of && Of->Block == At.Block && !Of->isPhi() &&
               Of->Index == At.Index;
      });
      Edges.emplace_back(Given, std::move(Names));
    }
    report(At, std::move(Edges), static_cast<int>(I));
  }
}

std::vector<EdgeDeath> EdgeSearch::run() {
  if (Program.Pointers.empty())
    return {};
  for (unsigned Block : Graph.order()) {
    // The program is about to end.
    if (Program.Blocks[Block].Fails)
      continue;
    atEntry(Block);
    SmallVector<unsigned, 2> Selects;
    for (const Pointer &P : Program.Pointers)
      if (!P.isPhi() && P.Block == Block && !is_contained(Selects, P.Index))
        Selects.push_back(P.Index);
    for (unsigned Index : Selects)
      atSelects({Block, Index});
  }
  return std::move(Result);
}

} // namespace

std::vector<EdgeDeath> edgeDeaths(const BufferProgram &Program,
                                  const FlowGraph &Graph,
                                  const PointerFlow &Pointers,
                                  const Liveness &Live,
                                  function_ref<bool(NameId, EventRef)> MayEnd) {
  return EdgeSearch(Program, Graph, Pointers, Live, MayEnd).run();
}

} // namespace dragon
