//===- Graphs.cpp - CUDA graphs: their nodes and edges --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calls that make graphs, join their nodes and ask about both.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/GraphCalls.h"

#include <algorithm>

using namespace dragon;

namespace {

/// CUDA's way to return a list: all of it, or how long it is.
template <typename T>
Result giveList(const std::vector<T> &all, T *list, size_t *count) {
  if (!count)
    return cudaErrorInvalidValue;
  if (list) {
    for (size_t i = 0; i < *count; ++i)
      list[i] = i < all.size() ? all[i] : T{};
    *count = std::min(*count, all.size());
  } else {
    *count = all.size();
  }
  return cudaSuccess;
}

std::vector<GraphNode *> dependents(const GraphNode &of) {
  std::vector<GraphNode *> found;
  for (const auto &node : of.graph->nodes)
    if (std::count(node->dependencies.begin(), node->dependencies.end(), &of))
      found.push_back(node.get());
  return found;
}

Result giveNodes(const std::vector<GraphNode *> &nodes, cudaGraphNode_t *list,
                 size_t *count) {
  std::vector<cudaGraphNode_t> handles;
  handles.reserve(nodes.size());
  for (GraphNode *node : nodes)
    handles.push_back(handleOf(node));
  return giveList(handles, list, count);
}

/// Lists the graph's nodes that `wanted` takes.
template <typename Wanted>
Result giveNodesOf(cudaGraph_t graph, cudaGraphNode_t *list, size_t *count,
                   Wanted &&wanted) {
  const Graph *found = findGraph(graph);
  if (!found)
    return cudaErrorInvalidValue;
  std::vector<GraphNode *> nodes;
  for (const auto &node : found->nodes)
    if (wanted(*node))
      nodes.push_back(node.get());
  return giveNodes(nodes, list, count);
}

/// change(source, target) for each pair, as long as it can.
template <typename Change>
Result changeEdges(const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                   size_t count, Change &&change) {
  std::vector<GraphNode *> sources;
  std::vector<GraphNode *> targets;
  DRAGON_CHECK(findNodes(from, count, sources));
  DRAGON_CHECK(findNodes(to, count, targets));
  for (size_t i = 0; i < count; ++i)
    if (!change(sources[i], targets[i]))
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  return DRAGON_EITHER(false, cudaGraphCreate, (graph, flags), {
    if (!graph || flags)
      return cudaErrorInvalidValue;
    *graph = keepGraph(std::make_shared<Graph>());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return DRAGON_EITHER(false, cudaGraphDestroy, (graph),
                       { return dropGraph(graph); });
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
  return DRAGON_EITHER(false, cudaGraphClone, (clone, graph), {
    const Graph *found = findGraph(graph);
    if (!clone || !found)
      return cudaErrorInvalidValue;
    *clone = keepGraph(found->clone());
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Dependencies, and what can be asked
//===----------------------------------------------------------------------===//

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                     const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *data,
                                     size_t count) {
  return DRAGON_EITHER(
      false, cudaGraphAddDependencies, (graph, from, to, data, count), {
        return changeEdges(from, to, count,
                           [](GraphNode *source, GraphNode *target) {
                             auto &list = target->dependencies;
                             if (source->graph != target->graph ||
                                 std::count(list.begin(), list.end(), source))
                               return false;
                             list.push_back(source);
                             return true;
                           });
      });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                        const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *data,
                                        size_t count) {
  return DRAGON_EITHER(
      false, cudaGraphRemoveDependencies, (graph, from, to, data, count), {
        return changeEdges(
            from, to, count, [](GraphNode *source, GraphNode *target) {
              return std::erase(target->dependencies, source) != 0;
            });
      });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                              size_t *count) {
  return DRAGON_EITHER(false, cudaGraphGetNodes, (graph, nodes, count), {
    return giveNodesOf(graph, nodes, count,
                       [](const GraphNode &) { return true; });
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                  size_t *count) {
  return DRAGON_EITHER(false, cudaGraphGetRootNodes, (graph, nodes, count), {
    return giveNodesOf(graph, nodes, count, [](const GraphNode &node) {
      return node.dependencies.empty();
    });
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                              cudaGraphNode_t *to, cudaGraphEdgeData *data,
                              size_t *count) {
  return DRAGON_EITHER(false, cudaGraphGetEdges, (graph, from, to, data, count),
                       {
                         const Graph *found = findGraph(graph);
                         if (!found || !count || !from != !to)
                           return cudaErrorInvalidValue;
                         std::vector<GraphNode *> sources;
                         std::vector<GraphNode *> targets;
                         for (const auto &node : found->nodes)
                           for (GraphNode *dependency : node->dependencies) {
                             sources.push_back(dependency);
                             targets.push_back(node.get());
                           }
                         if (data)
                           std::fill_n(data, std::min(*count, sources.size()),
                                       cudaGraphEdgeData{});
                         size_t same = *count;
                         DRAGON_CHECK(giveNodes(sources, from, &same));
                         return giveNodes(targets, to, count);
                       });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node,
                                 cudaGraphNodeType *type) {
  return DRAGON_EITHER(false, cudaGraphNodeGetType, (node, type), {
    const GraphNode *found = findNode(node);
    if (!found || !type)
      return cudaErrorInvalidValue;
    *type = typeOf(found->work);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t *list,
                                         cudaGraphEdgeData *data,
                                         size_t *count) {
  return DRAGON_EITHER(
      false, cudaGraphNodeGetDependencies, (node, list, data, count), {
        const GraphNode *found = findNode(node);
        return found ? giveNodes(found->dependencies, list, count)
                     : cudaErrorInvalidValue;
      });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                           cudaGraphNode_t *list,
                                           cudaGraphEdgeData *data,
                                           size_t *count) {
  return DRAGON_EITHER(
      false, cudaGraphNodeGetDependentNodes, (node, list, data, count), {
        const GraphNode *found = findNode(node);
        return found ? giveNodes(dependents(*found), list, count)
                     : cudaErrorInvalidValue;
      });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                            cudaGraph_t *graph) {
  return DRAGON_EITHER(false, cudaGraphChildGraphNodeGetGraph, (node, graph), {
    GraphNode *found = findNode(node);
    auto *child = found ? std::get_if<ChildWork>(&found->work) : nullptr;
    if (!child || !graph)
      return cudaErrorInvalidValue;
    *graph = reinterpret_cast<cudaGraph_t>(child->graph.get());
    return cudaSuccess;
  });
}

} // extern "C"
