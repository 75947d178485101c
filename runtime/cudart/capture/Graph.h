//===- Graph.h - CUDA graphs as we run them ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph is a list of nodes with what each does; an instantiated one is a copy
// in an order that its dependencies allow, and a launch issues the nodes one
// after another, as the program would have without graphs. So nothing has to
// stay resident, and what is said of launches and copies holds for those of
// graphs. On the cpu device all graphs are such. On a GPU they are NVIDIA's,
// and have such a copy, made when they are instantiated, for when they do not
// fit into device memory (graphs/NvidiaGraph.h).
//
// Threads: a graph belongs to one thread at a time, as in CUDA.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_CAPTURE_GRAPH_H
#define DRAGON_RUNTIME_CUDART_CAPTURE_GRAPH_H

#include "runtime/cudart/front/Front.h"

#include <cuda_runtime_api.h>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace dragon {

struct Graph;

struct KernelWork {
  /// A copy of what the arguments pointed at; never changes.
  struct Arguments {
    std::vector<std::vector<char>> bytes;
    std::vector<void *> pointers;
  };
  cudaKernelNodeParams params{}; ///< kernelParams: into `arguments`
  bool cooperative = false;
  std::shared_ptr<const Arguments> arguments;
};
struct CopyWork {
  cudaMemcpy3DParms params{};
};
struct SetWork {
  cudaMemsetParams params{};
};
struct HostWork {
  cudaHostNodeParams params{};
};
struct ChildWork {
  std::shared_ptr<Graph> graph; ///< its own copy
};
struct EventWork {
  cudaEvent_t event = nullptr;
  bool record = false; ///< else: wait
};
struct AllocWork {
  cudaMemAllocNodeParams params{};
  /// The memory is the graph's and its copies', at one address.
  std::shared_ptr<void> memory;
};
struct FreeWork {
  void *pointer = nullptr;
};
/// On a GPU: a kernel that is not the program's, captured while a library
/// launched it.
struct LibraryWork {
  std::shared_ptr<CUgraphExec_st> alone; ///< a graph of this node only
  std::vector<uintptr_t> words; ///< its arguments', of which some are addresses
  std::string name;
  /// What it uses; null: whatever the words are addresses of.
  std::shared_ptr<const LibraryCall> uses;
};
/// No work: an empty node.
using GraphWork =
    std::variant<std::monostate, KernelWork, CopyWork, SetWork, HostWork,
                 ChildWork, EventWork, AllocWork, FreeWork, LibraryWork>;

struct GraphNode {
  Graph *graph = nullptr;
  GraphWork work;
  std::vector<GraphNode *> dependencies;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes; ///< as they were added

  GraphNode *add(GraphWork work, std::vector<GraphNode *> dependencies);
  /// A copy; node I of it is that of node I of this one.
  std::shared_ptr<Graph> clone() const;
  /// The numbers of the nodes in an order that dependencies allow; false: there
  /// is none.
  bool order(std::vector<size_t> &numbers) const;
};

/// The handle's, or null.
Graph *findGraph(cudaGraph_t graph);
GraphNode *findNode(cudaGraphNode_t node);
/// The nodes of the handles: any, or only those of the graph.
Result findNodes(const cudaGraphNode_t *handles, size_t count,
                 std::vector<GraphNode *> &nodes);
Result nodesIn(const Graph *graph, const cudaGraphNode_t *handles, size_t count,
               std::vector<GraphNode *> &nodes);
cudaGraph_t keepGraph(std::shared_ptr<Graph> graph);
/// The same, to keep; null if the program has no such graph.
std::shared_ptr<Graph> shareGraph(cudaGraph_t graph);
/// The program has it no more.
Result dropGraph(cudaGraph_t graph);
inline cudaGraphNode_t handleOf(GraphNode *node) {
  return reinterpret_cast<cudaGraphNode_t>(node);
}

/// What a node is to do, made of what the program says.
CopyWork linearCopy(void *to, const void *from, size_t bytes,
                    cudaMemcpyKind kind);
CopyWork planeCopy(void *to, size_t toPitch, const void *from, size_t fromPitch,
                   size_t width, size_t height, cudaMemcpyKind kind);
SetWork setOfBytes(void *to, size_t pitch, int value, size_t width,
                   size_t height);
/// Checks what is known of it already.
Result checkSet(const cudaMemsetParams &params);

cudaGraphNodeType typeOf(const GraphWork &work);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_CAPTURE_GRAPH_H
