//===- HostPointers.cpp - values that are one of several buffers
//-----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/HostReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dragon::ir {

/// Region and block arguments, results of region operations and selects that
/// can be nothing but whole device buffers that the program knows.
std::optional<unsigned> HostReader::pointerOf(Value V) {
  if (auto It = PointerOf.find(V); It != PointerOf.end())
    return It->second;
  const Targets T = Memrefs.of(V);
  if (!T.known() || !T.Whole || T.Sites.size() < 2)
    return std::nullopt;
  for (Operation *Site : T.Sites)
    if (!BufferOf.count(Site) ||
        Result.Program.Buffers[BufferOf[Site]].Kind != BufferKind::Device)
      return std::nullopt;
  Operation *Op = V.getDefiningOp();
  if (Op && !isa<arith::SelectOp, RegionBranchOpInterface>(Op))
    return std::nullopt;
  if (!Op && V.getParentBlock()->isEntryBlock() &&
      V.getParentBlock()->getParentOp() == F)
    return std::nullopt;
  return PointerOf.insert({V, unsigned(PointerOf.size())}).first->second;
}

SmallVector<NameId, 1> HostReader::namesOf(Value V) {
  Value Base = withoutCasts(V);
  if (std::optional<unsigned> P = pointerOf(Base))
    return {Result.Program.nameOf(*P)};
  SmallVector<NameId, 1> Found;
  for (Operation *Site : Memrefs.of(V).Sites)
    if (auto It = BufferOf.find(Site); It != BufferOf.end())
      Found.push_back(It->second);
  return Found;
}

void HostReader::addPointers() {
  std::vector<Pointer> Found;
  // What comes in may be pointers that no event has a use of, and so on.
  for (unsigned I = 0; I < PointerOf.size(); ++I) {
    Value V = PointerOf.begin()[I].first;
    Pointer P;
    P.Name = nameOf(V);
    if (auto Select = V.getDefiningOp<arith::SelectOp>()) {
      std::tie(P.Block, P.Index) = SelectAt[V];
      P.Condition = int(SelectConditions
                            .try_emplace(Select.getCondition(),
                                         unsigned(SelectConditions.size()))
                            .first->second);
      P.Incomings.push_back({1, namesOf(Select.getTrueValue())});
      P.Incomings.push_back({0, namesOf(Select.getFalseValue())});
    } else {
      for (const Incoming &In : Given[V]) {
        P.Block = In.To;
        if (!P.from(In.From))
          P.Incomings.push_back({In.From, namesOf(In.V)});
      }
    }
    Found.push_back(std::move(P));
  }
  std::vector<unsigned> Order(Found.size());
  for (unsigned I = 0; I < Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](unsigned A, unsigned B) {
    return std::tie(Found[A].Block, Found[A].Index, A) <
           std::tie(Found[B].Block, Found[B].Index, B);
  });
  for (unsigned I : Order)
    Result.Pointers.push_back(PointerOf.begin()[I].first);
  Result.Program.setPointers(std::move(Found), Order);
}

} // namespace dragon::ir
