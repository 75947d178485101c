//===- GraphCalls.h - what the calls on graphs share ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H
#define DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H

#include "runtime/cudart/capture/Graph.h"
#include "runtime/cudart/modules/NvidiaOrOwn.h"

namespace dragon {

/// Other work of the same kind for a node.
Result setWork(GraphNode *node, GraphWork work);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H
