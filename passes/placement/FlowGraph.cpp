//===- FlowGraph.cpp - the blocks of a buffer program as a graph ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/FlowGraph.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Support/GenericDomTreeConstruction.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

void FlowNode::printAsOperand(raw_ostream &Out, bool) const {
  Out << "block " << Number;
}

FlowGraph::FlowGraph(const BufferProgram &Program)
    : Predecessors(Program.Blocks.size()),
      Component(Program.Blocks.size(), -1) {
  const auto N = static_cast<unsigned>(Program.Blocks.size());
  Nodes.reserve(N);
  for (unsigned B = 0; B < N; ++B)
    Nodes.push_back({this, B, {}, {}});
  if (N == 0)
    return;
  for (unsigned B = 0; B < N; ++B)
    for (unsigned S : Program.Blocks[B].Successors)
      Nodes[B].Successors.push_back(&Nodes[S]);
  for (const FlowNode *Node : ReversePostOrderTraversal<FlowGraph *>(this))
    Order.push_back(Node->Number);
  for (unsigned B : Order)
    for (FlowNode *S : Nodes[B].Successors) {
      S->Predecessors.push_back(&Nodes[B]);
      Predecessors[S->Number].push_back(B);
    }
  findReached();
  Dominators.recalculate(*this);
}

void FlowGraph::findReached() {
  for (auto It = scc_begin(this); !It.isAtEnd(); ++It) {
    const auto Here = static_cast<int>(Reached.size());
    for (const FlowNode *Node : *It)
      Component[Node->Number] = Here;
    BitVector Below(static_cast<unsigned>(Nodes.size()));
    for (const FlowNode *Node : *It)
      for (const FlowNode *S : Node->Successors) {
        Below.set(S->Number);
        if (const int There = Component[S->Number]; There != Here)
          Below |= Reached[static_cast<size_t>(There)];
      }
    Reached.push_back(std::move(Below));
  }
}

bool FlowGraph::dominates(unsigned A, unsigned B) const {
  return Dominators.dominates(&Nodes[A], &Nodes[B]);
}

bool FlowGraph::dominates(EventRef A, EventRef B) const {
  if (A.Block == B.Block)
    return A.Index < B.Index;
  return dominates(A.Block, B.Block);
}

bool FlowGraph::mayPrecede(EventRef A, EventRef B) const {
  if (A.Block == B.Block && A.Index < B.Index)
    return true;
  return reaches(A.Block, B.Block);
}

unsigned FlowGraph::commonDominator(unsigned A, unsigned B) const {
  return Dominators.findNearestCommonDominator(&Nodes[A], &Nodes[B])->Number;
}

unsigned FlowGraph::immediateDominator(unsigned Block) const {
  return Dominators.getNode(&Nodes[Block])->getIDom()->getBlock()->Number;
}

BitVector FlowGraph::naturalLoop(unsigned Header) const {
  BitVector Inside(static_cast<unsigned>(Nodes.size()));
  SmallVector<unsigned, 8> Pending;
  for (unsigned P : Predecessors[Header])
    if (dominates(Header, P))
      Pending.push_back(P);
  if (!Pending.empty())
    Inside.set(Header);
  while (!Pending.empty()) {
    const unsigned B = Pending.pop_back_val();
    if (Inside[B])
      continue;
    Inside.set(B);
    append_range(Pending, Predecessors[B]);
  }
  return Inside;
}

} // namespace dragon
