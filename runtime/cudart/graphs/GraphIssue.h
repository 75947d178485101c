//===- GraphIssue.h - the work of a graph, done now -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each node becomes the call that the program would have made without graphs.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHISSUE_H
#define DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHISSUE_H

#include "runtime/cudart/capture/Graph.h"

namespace dragon {

/// Issues the work of a graph's nodes into the stream, in this order and
/// without those that are disabled.
Result issueNodes(Front &front, const Graph &graph,
                  const std::vector<size_t> &order,
                  const std::vector<bool> &disabled, cudaStream_t stream);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHISSUE_H
