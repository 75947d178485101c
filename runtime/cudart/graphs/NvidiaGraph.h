//===- NvidiaGraph.h - graphs of NVIDIA's, read node by node ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU a graph is NVIDIA's, and is launched as it is if the buffers that it
// uses fit into the budget. For when they do not, it is read when it is
// instantiated or updated: what its nodes do becomes a graph of our own
// (capture/Graph.h), whose nodes are issued one after another, as the launches
// and copies that were captured.
//
//   kernels of the program    launches, with the footprints of their summaries
//   kernels of libraries      a graph of NVIDIA's that has the node alone; what
//                             their arguments lead to comes to the device whole
//   copies, fills, host functions, events, graphs in graphs    as they are
//
// Nodes that allocate memory, conditional nodes and those of external
// semaphores cannot be issued alone: a graph that has one must fit.
//
// Source: CUDA Runtime API, "Graph Management".
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_GRAPHS_NVIDIAGRAPH_H
#define DRAGON_RUNTIME_CUDART_GRAPHS_NVIDIAGRAPH_H

#include "runtime/cudart/capture/Graph.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dragon {

struct ReadGraph {
  std::shared_ptr<Graph> graph;
  std::vector<cudaGraphNode_t> nodes; ///< NVIDIA's, in the same order
  std::string obstacle; ///< why it cannot be issued so; empty: it can
};

/// Reads a graph of NVIDIA's. Where it has an obstacle, the rest is read.
Result readGraph(Front &front, cudaGraph_t graph, ReadGraph &read);

/// Does the work if the budget holds what it uses, which comes to the device
/// before. `fits`: it did.
Result runIfFits(Front &front, const LibraryCall &call, bool &fits,
                 const std::function<cudaError_t()> &work);
/// The error of such a call that does not fit: which buffers, and what there
/// is.
Status tooLarge(Front &front, const LibraryCall &call);

/// Makes a call of NVIDIA's for which the memory of the graph's copies and
/// fills has to be there: the driver looks at it. Nothing is called, and `fits`
/// is false, if the budget does not hold it.
Result withCopiedMemory(Front &front, const Graph &graph, bool &fits,
                        const std::function<cudaError_t()> &call);

/// The library call that the node issued last is of, and what it uses.
struct IssuedCall {
  std::shared_ptr<const LibraryCall> call; ///< null: none, or not known
  LibraryCall followed;
};
/// Launches a kernel of a library. The next kernels of the same call use the
/// same: pointers in device memory are read once.
Result issueLibraryWork(Front &front, const LibraryWork &work,
                        cudaStream_t stream, IssuedCall &last);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_GRAPHS_NVIDIAGRAPH_H
