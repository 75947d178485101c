//===- GraphExec.h - instantiated CUDA graphs -------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an instantiated graph does, in an order that its dependencies allow. On
// the cpu device the program's handle is its address; on a GPU it is one of
// NVIDIA's, whose graph is launched if it fits (NvidiaGraph.h).
//
// Threads: an instance belongs to one thread at a time, as in CUDA.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHEXEC_H
#define DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHEXEC_H

#include "runtime/cudart/graphs/GraphCalls.h"

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace dragon {

struct GraphExec {
  std::shared_ptr<Graph> graph; ///< its own copy
  std::vector<size_t> order;
  std::vector<bool> disabled;
  /// The nodes that it was instantiated from.
  std::unordered_map<cudaGraphNode_t, size_t> numbers;
  unsigned long long flags = 0;

  // On a GPU.
  std::string obstacle; ///< why it cannot be issued node by node; empty: it can
  /// NVIDIA's instance is empty: there was no room for what it would look at.
  bool onlyNodes = false;
  LibraryCall uses; ///< whole buffers, as of `reach`
  RuntimeLibraries::Reach reach;
  bool told = false; ///< the log says how it runs
};

/// Null: there is none (a library's, by the driver).
GraphExec *findExec(cudaGraphExec_t exec);
/// The instantiated node that was made of this one.
GraphNode *findNode(cudaGraphExec_t exec, cudaGraphNode_t node,
                    size_t *number = nullptr);
void keepExec(cudaGraphExec_t handle, std::unique_ptr<GraphExec> exec);
/// False: there is none.
bool dropExec(cudaGraphExec_t handle);

/// A call that changes what a node of an instance does: NVIDIA's on a GPU, for
/// which `memory` has to be there, and then `own`, which changes ours. A graph
/// of which we do not know any more what it does has to fit.
Result changeExec(Front &front, cudaGraphExec_t handle,
                  std::initializer_list<MemoryPart> memory,
                  const std::function<cudaError_t()> &nvidia,
                  const std::function<Result()> &own);

/// Launches one on a GPU.
Result launchNvidia(Front &front, cudaGraphExec_t handle, cudaStream_t stream);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHEXEC_H
