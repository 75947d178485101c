//===- GraphCalls.h - what the calls on graphs share ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   return DRAGON_EITHER(memory, cudaX, (arguments), { the cpu device's body
//   });
//
// is a call that is NVIDIA's on a GPU. `memory`: what it makes works on memory
// that the runtime manages, which has to stay in device memory then.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H
#define DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H

#include "runtime/cudart/graphs/Graph.h"
#include "runtime/cudart/textures/Arrays.h"

#define DRAGON_UNPACK(...) __VA_ARGS__
#define DRAGON_EITHER(memory, name, args, ...)                                 \
  onEither(                                                                    \
      memory, [&] { return DRAGON_NVIDIA(name, DRAGON_UNPACK args); },         \
      [&]([[maybe_unused]] Front & front)->Result __VA_ARGS__)

namespace dragon {

/// The nodes of the handles, all of which must be the graph's.
Result nodesIn(const Graph *graph, const cudaGraphNode_t *handles, size_t count,
               std::vector<GraphNode *> &nodes);

/// Other work of the same kind for a node.
Result setWork(GraphNode *node, GraphWork work);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H
