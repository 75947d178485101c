//===- HostPointers.cpp - values that are one of several buffers -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/HostPointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <tuple>

using namespace mlir;

namespace dragon::ir {

std::optional<unsigned> HostPointers::of(Value V) {
  if (auto It = Numbers.find(V); It != Numbers.end())
    return It->second;
  const Targets T = Memrefs.of(V);
  if (!T.known() || !T.Whole || T.Sites.size() < 2)
    return std::nullopt;
  for (Operation *Site : T.Sites)
    if (std::optional<unsigned> Number = Buffers.of(Site);
        !Number || Buffers[*Number].Kind != BufferKind::Device)
      return std::nullopt;
  Operation *Op = V.getDefiningOp();
  if (Op && !isa<arith::SelectOp, RegionBranchOpInterface>(Op))
    return std::nullopt;
  if (!Op && V.getParentBlock()->isEntryBlock() &&
      V.getParentBlock()->getParentOp() == F)
    return std::nullopt;
  return Numbers.insert({V, unsigned(Numbers.size())}).first->second;
}

SmallVector<NameId, 1> HostPointers::namesOf(Value V) {
  Value Base = withoutCasts(V);
  if (std::optional<unsigned> P = of(Base))
    return {Result.Program.nameOf(*P)};
  SmallVector<NameId, 1> Found;
  for (Operation *Site : Memrefs.of(V).Sites)
    if (std::optional<unsigned> Number = Buffers.of(Site))
      Found.push_back(*Number);
  return Found;
}

void HostPointers::give(Value Taken, unsigned To, unsigned From, Value V) {
  Given[Taken].push_back({To, From, V});
}

void HostPointers::addSelect(Value Select, unsigned Block, unsigned Event) {
  SelectAt[Select] = {Block, Event};
}

Pointer HostPointers::read(Value V) {
  Pointer P;
  P.Name = Buffers.nameOf(V);
  if (auto Select = V.getDefiningOp<arith::SelectOp>()) {
    std::tie(P.Block, P.Index) = SelectAt[V];
    P.Condition = int(SelectConditions
                          .try_emplace(Select.getCondition(),
                                       unsigned(SelectConditions.size()))
                          .first->second);
    P.Incomings.push_back({1, namesOf(Select.getTrueValue())});
    P.Incomings.push_back({0, namesOf(Select.getFalseValue())});
    return P;
  }
  for (const Incoming &In : Given[V]) {
    P.Block = In.To;
    if (!P.from(In.From))
      P.Incomings.push_back({In.From, namesOf(In.V)});
  }
  return P;
}

void HostPointers::addAll() {
  std::vector<Pointer> Found;
  // A pointer may be one of other pointers, which no event uses. To read it
  // adds these to Numbers, and they are read in turn.
  for (unsigned I = 0; I < Numbers.size(); ++I)
    Found.push_back(read(Numbers.begin()[I].first));
  std::vector<unsigned> Order(Found.size());
  for (unsigned I = 0; I < Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](unsigned A, unsigned B) {
    return std::tie(Found[A].Block, Found[A].Index, A) <
           std::tie(Found[B].Block, Found[B].Index, B);
  });
  for (unsigned I : Order)
    Result.Pointers.push_back(Numbers.begin()[I].first);
  Result.Program.setPointers(std::move(Found), Order);
  addLeaves();
}

/// Notes the results of operations with regions that are one value on all ways.
void HostPointers::addLeaves() {
  for (const auto &[To, Incomings] : Given)
    if (isa<OpResult>(To) &&
        llvm::all_of(Incomings, [&Incomings = Incomings](const Incoming &In) {
          return In.V == Incomings.front().V;
        }))
      Result.Leaves[Incomings.front().V] = To;
}

} // namespace dragon::ir
