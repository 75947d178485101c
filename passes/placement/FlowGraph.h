//===- FlowGraph.h - the blocks of a buffer program as a graph -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Order, dominators, cycles and reachability of the blocks of a buffer program.
// LLVM's algorithms do the work; the traits at the end of this file show them
// the graph.
//
// A block reaches what its strongly connected component reaches, so there is
// one set of reached blocks for each component. The components come bottom up:
// the set of one is the union of those that it leads to, and its own blocks if
// it is a cycle.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_FLOWGRAPH_H
#define DRAGON_PASSES_PLACEMENT_FLOWGRAPH_H

#include "passes/placement/BufferProgram.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/GraphTraits.h"
#include "llvm/ADT/iterator.h"
#include "llvm/Support/GenericDomTree.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dragon {

class FlowGraph;

/// A block. Predecessors are those that the entry reaches.
struct FlowNode {
  FlowGraph *Graph;
  unsigned Number; ///< of the block
  llvm::SmallVector<FlowNode *, 2> Successors, Predecessors;

  FlowGraph *getParent() const { return Graph; }
  void printAsOperand(llvm::raw_ostream &Out, bool PrintType) const;
};

} // namespace dragon

// LLVM asks for these names.
// NOLINTBEGIN(readability-identifier-naming)
namespace llvm {

template <> struct GraphTraits<dragon::FlowNode *> {
  using NodeRef = dragon::FlowNode *;
  using ChildIteratorType = SmallVectorImpl<NodeRef>::const_iterator;

  static NodeRef getEntryNode(NodeRef Node) { return Node; }
  static ChildIteratorType child_begin(NodeRef Node) {
    return Node->Successors.begin();
  }
  static ChildIteratorType child_end(NodeRef Node) {
    return Node->Successors.end();
  }
  static unsigned getNumber(const dragon::FlowNode *Node) {
    return Node->Number;
  }
};

template <>
struct GraphTraits<const dragon::FlowNode *> : GraphTraits<dragon::FlowNode *> {
  using NodeRef = const dragon::FlowNode *;
};

template <> struct GraphTraits<Inverse<dragon::FlowNode *>> {
  using NodeRef = dragon::FlowNode *;
  using ChildIteratorType = SmallVectorImpl<NodeRef>::const_iterator;

  static NodeRef getEntryNode(Inverse<NodeRef> Node) { return Node.Graph; }
  static ChildIteratorType child_begin(NodeRef Node) {
    return Node->Predecessors.begin();
  }
  static ChildIteratorType child_end(NodeRef Node) {
    return Node->Predecessors.end();
  }
  static unsigned getNumber(const dragon::FlowNode *Node) {
    return Node->Number;
  }
};

} // namespace llvm
// NOLINTEND(readability-identifier-naming)

namespace dragon {

/// Facts on the graph, each computed once.
class FlowGraph {
public:
  explicit FlowGraph(const BufferProgram &Program);
  FlowGraph(const FlowGraph &) = delete;
  FlowGraph &operator=(const FlowGraph &) = delete;

  /// Blocks that the entry reaches, in reverse post-order.
  const std::vector<unsigned> &order() const { return Order; }
  /// Those that the entry reaches.
  const std::vector<llvm::SmallVector<unsigned, 2>> &predecessors() const {
    return Predecessors;
  }
  bool reachable(unsigned Block) const { return Component[Block] >= 0; }
  /// There is a path of at least one edge.
  bool reaches(unsigned From, unsigned To) const {
    return reachable(From) && Reached[static_cast<size_t>(Component[From])][To];
  }
  bool inCycle(unsigned Block) const { return reaches(Block, Block); }
  bool dominates(unsigned A, unsigned B) const;
  bool dominates(EventRef A, EventRef B) const;
  /// A happens before B on some path.
  bool mayPrecede(EventRef A, EventRef B) const;
  /// The last block that dominates both, which the entry reaches.
  unsigned commonDominator(unsigned A, unsigned B) const;
  /// The last other block that dominates this one, which is not the entry.
  unsigned immediateDominator(unsigned Block) const;
  /// The blocks of the natural loop with this header; none if it has no loop.
  llvm::BitVector naturalLoop(unsigned Header) const;

  using NodeIterator = std::vector<FlowNode>::iterator;
  FlowNode &front() { return Nodes.front(); }
  NodeIterator begin() { return Nodes.begin(); }
  NodeIterator end() { return Nodes.end(); }
  size_t size() const { return Nodes.size(); }

private:
  void findReached();

  std::vector<FlowNode> Nodes;
  std::vector<unsigned> Order;
  std::vector<llvm::SmallVector<unsigned, 2>> Predecessors;
  llvm::DominatorTreeBase<FlowNode, false> Dominators;
  std::vector<int> Component;           ///< strongly connected; -1: not reached
  std::vector<llvm::BitVector> Reached; ///< by component
};

} // namespace dragon

// NOLINTBEGIN(readability-identifier-naming)
namespace llvm {

template <>
struct GraphTraits<dragon::FlowGraph *> : GraphTraits<dragon::FlowNode *> {
  using nodes_iterator = pointer_iterator<dragon::FlowGraph::NodeIterator>;

  static NodeRef getEntryNode(dragon::FlowGraph *Graph) {
    return &Graph->front();
  }
  static nodes_iterator nodes_begin(dragon::FlowGraph *Graph) {
    return nodes_iterator(Graph->begin());
  }
  static nodes_iterator nodes_end(dragon::FlowGraph *Graph) {
    return nodes_iterator(Graph->end());
  }
  static unsigned getMaxNumber(const dragon::FlowGraph *Graph) {
    return static_cast<unsigned>(Graph->size());
  }
  /// Numbers never change.
  static unsigned getNumberEpoch(const dragon::FlowGraph *) { return 0; }
};

} // namespace llvm
// NOLINTEND(readability-identifier-naming)

#endif // DRAGON_PASSES_PLACEMENT_FLOWGRAPH_H
