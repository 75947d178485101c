//===- Graph.cpp - CUDA graphs as we run them -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Graph.h"

#include <mutex>
#include <unordered_map>

namespace dragon {

namespace {

std::mutex lock;
std::unordered_map<const void *, std::shared_ptr<Graph>> &graphs() {
  static auto *table =
      new std::unordered_map<const void *, std::shared_ptr<Graph>>;
  return *table;
}

bool contains(const Graph &graph, const GraphNode *node) {
  for (const auto &own : graph.nodes) {
    if (own.get() == node)
      return true;
    if (const auto *child = std::get_if<ChildWork>(&own->work))
      if (contains(*child->graph, node))
        return true;
  }
  return false;
}

} // namespace

GraphNode *Graph::add(GraphWork work, std::vector<GraphNode *> dependencies) {
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  std::unordered_map<const GraphNode *, GraphNode *> of;
  for (const auto &node : nodes) {
    GraphWork work = node->work;
    if (auto *child = std::get_if<ChildWork>(&work))
      child->graph = child->graph->clone();
    of[node.get()] = copy->add(std::move(work), {});
  }
  for (const auto &node : nodes)
    for (const GraphNode *dependency : node->dependencies)
      of[node.get()]->dependencies.push_back(of.at(dependency));
  return copy;
}

bool Graph::order(std::vector<size_t> &numbers) const {
  std::unordered_map<const GraphNode *, size_t> number;
  for (size_t i = 0; i < nodes.size(); ++i)
    number[nodes[i].get()] = i;
  std::vector<size_t> missing(nodes.size());
  std::vector<std::vector<size_t>> next(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const GraphNode *dependency : nodes[i]->dependencies) {
      ++missing[i];
      next[number.at(dependency)].push_back(i);
    }
  numbers.clear();
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!missing[i])
      numbers.push_back(i);
  for (size_t done = 0; done < numbers.size(); ++done)
    for (size_t i : next[numbers[done]])
      if (!--missing[i])
        numbers.push_back(i);
  return numbers.size() == nodes.size();
}

Graph *findGraph(cudaGraph_t graph) {
  std::lock_guard<std::mutex> guard(lock);
  if (auto it = graphs().find(graph); it != graphs().end())
    return it->second.get();
  // The graph of a child node.
  for (auto &[handle, whole] : graphs())
    for (const auto &node : whole->nodes)
      if (auto *child = std::get_if<ChildWork>(&node->work);
          child && static_cast<const void *>(child->graph.get()) == graph)
        return child->graph.get();
  return nullptr;
}

GraphNode *findNode(cudaGraphNode_t handle) {
  auto *node = reinterpret_cast<GraphNode *>(handle);
  std::lock_guard<std::mutex> guard(lock);
  for (auto &[graph, whole] : graphs())
    if (contains(*whole, node))
      return node;
  return nullptr;
}

Result findNodes(const cudaGraphNode_t *handles, size_t count,
                 std::vector<GraphNode *> &nodes) {
  if (count && !handles)
    return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    GraphNode *node = findNode(handles[i]);
    if (!node)
      return cudaErrorInvalidValue;
    nodes.push_back(node);
  }
  return cudaSuccess;
}

Result nodesIn(const Graph *graph, const cudaGraphNode_t *handles, size_t count,
               std::vector<GraphNode *> &nodes) {
  DRAGON_CHECK(findNodes(handles, count, nodes));
  for (const GraphNode *node : nodes)
    if (node->graph != graph)
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaGraph_t keepGraph(std::shared_ptr<Graph> graph) {
  auto handle = reinterpret_cast<cudaGraph_t>(graph.get());
  std::lock_guard<std::mutex> guard(lock);
  graphs()[handle] = std::move(graph);
  return handle;
}

std::shared_ptr<Graph> shareGraph(cudaGraph_t graph) {
  std::lock_guard<std::mutex> guard(lock);
  auto it = graphs().find(graph);
  return it != graphs().end() ? it->second : nullptr;
}

Result dropGraph(cudaGraph_t graph) {
  std::lock_guard<std::mutex> guard(lock);
  return graphs().erase(graph) ? cudaSuccess : cudaErrorInvalidValue;
}

CopyWork planeCopy(void *to, size_t toPitch, const void *from, size_t fromPitch,
                   size_t width, size_t height, cudaMemcpyKind kind) {
  CopyWork work;
  work.params.dstPtr = {to, toPitch, width, height};
  work.params.srcPtr = {const_cast<void *>(from), fromPitch, width, height};
  work.params.extent = {width, height, 1};
  work.params.kind = kind;
  return work;
}

CopyWork linearCopy(void *to, const void *from, size_t bytes,
                    cudaMemcpyKind kind) {
  return planeCopy(to, bytes, from, bytes, bytes, 1, kind);
}

SetWork setOfBytes(void *to, size_t pitch, int value, size_t width,
                   size_t height) {
  SetWork work;
  work.params.dst = to;
  work.params.pitch = pitch;
  work.params.value = unsigned(value) & 0xff;
  work.params.elementSize = 1;
  work.params.width = width;
  work.params.height = height;
  return work;
}

Result checkSet(const cudaMemsetParams &p) {
  bool known = p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4;
  return p.dst && known && p.width &&
                 (p.height == 1 ||
                  (p.height && p.pitch >= p.width * p.elementSize))
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

cudaGraphNodeType typeOf(const GraphWork &work) {
  switch (work.index()) {
  case 1:
  case 9:
    return cudaGraphNodeTypeKernel;
  case 2:
    return cudaGraphNodeTypeMemcpy;
  case 3:
    return cudaGraphNodeTypeMemset;
  case 4:
    return cudaGraphNodeTypeHost;
  case 5:
    return cudaGraphNodeTypeGraph;
  case 6:
    return std::get<EventWork>(work).record ? cudaGraphNodeTypeEventRecord
                                            : cudaGraphNodeTypeWaitEvent;
  case 7:
    return cudaGraphNodeTypeMemAlloc;
  case 8:
    return cudaGraphNodeTypeMemFree;
  default:
    return cudaGraphNodeTypeEmpty;
  }
}

} // namespace dragon
