//===- Graphs.cpp - building CUDA graphs ----------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calls that make graphs, add nodes and ask about them. What is added to a
// graph of NVIDIA's works on memory that we manage, later: all of it stays in
// device memory then.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/Graph.h"

#include "runtime/cudart/graphs/GraphCalls.h"
#include "runtime/cudart/streams/HostFunctions.h"
#include "runtime/cudart/textures/Arrays.h"

#include <algorithm>

using namespace dragon;

namespace {

Result nodesOf(const cudaGraphNode_t *handles, size_t count,
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

Result addNode(cudaGraphNode_t *handle, cudaGraph_t graph,
               const cudaGraphNode_t *dependencies, size_t count,
               GraphWork work) {
  Graph *found = findGraph(graph);
  if (!handle || !found)
    return cudaErrorInvalidValue;
  std::vector<GraphNode *> nodes;
  DRAGON_CHECK(nodesIn(found, dependencies, count, nodes));
  *handle = handleOf(found->add(std::move(work), std::move(nodes)));
  return cudaSuccess;
}

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

/// Those of the graph's nodes that `wanted` takes.
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
  DRAGON_CHECK(nodesOf(from, count, sources));
  DRAGON_CHECK(nodesOf(to, count, targets));
  for (size_t i = 0; i < count; ++i)
    if (!change(sources[i], targets[i]))
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

/// What the work's parameters are, if it is of that kind.
template <typename Work, typename Params>
Result getParams(cudaGraphNode_t node, Params *params) {
  GraphNode *found = findNode(node);
  const Work *work = found ? std::get_if<Work>(&found->work) : nullptr;
  if (!work || !params)
    return cudaErrorInvalidValue;
  *params = work->params;
  return cudaSuccess;
}

/// The device address of a part of a symbol.
Result symbolAddress(const void *symbol, size_t offset, size_t bytes,
                     char *&address) {
  size_t size = 0;
  void *base = nullptr;
  if (cudaError_t error = cudaGetSymbolSize(&size, symbol))
    return error;
  if (offset > size || bytes > size - offset)
    return cudaErrorInvalidValue;
  if (cudaError_t error = cudaGetSymbolAddress(&base, symbol))
    return error;
  address = static_cast<char *>(base) + offset;
  return cudaSuccess;
}

} // namespace

namespace dragon {

Result nodesIn(const Graph *graph, const cudaGraphNode_t *handles, size_t count,
               std::vector<GraphNode *> &nodes) {
  DRAGON_CHECK(nodesOf(handles, count, nodes));
  for (const GraphNode *node : nodes)
    if (node->graph != graph)
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

Result setWork(GraphNode *node, GraphWork work) {
  if (!node || node->work.index() != work.index())
    return cudaErrorInvalidValue;
  node->work = std::move(work);
  return cudaSuccess;
}

} // namespace dragon

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
// Nodes
//===----------------------------------------------------------------------===//

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *dependencies,
                                   size_t count,
                                   const cudaKernelNodeParams *params) {
  return DRAGON_EITHER(true, cudaGraphAddKernelNode,
                       (node, graph, dependencies, count, params), {
                         KernelWork work;
                         if (!params)
                           return cudaErrorInvalidValue;
                         DRAGON_CHECK(kernelWork(front, *params, false, work));
                         return addNode(node, graph, dependencies, count,
                                        std::move(work));
                       });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *dependencies,
                                   size_t count,
                                   const cudaMemcpy3DParms *params) {
  return DRAGON_EITHER(true, cudaGraphAddMemcpyNode,
                       (node, graph, dependencies, count, params), {
                         if (!params)
                           return cudaErrorInvalidValue;
                         return addNode(node, graph, dependencies, count,
                                        CopyWork{*params});
                       });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *dependencies,
                                     size_t count, void *to, const void *from,
                                     size_t bytes, cudaMemcpyKind kind) {
  return DRAGON_EITHER(
      true, cudaGraphAddMemcpyNode1D,
      (node, graph, dependencies, count, to, from, bytes, kind), {
        if (!to || !from)
          return cudaErrorInvalidValue;
        return addNode(node, graph, dependencies, count,
                       linearCopy(to, from, bytes, kind));
      });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node,
                                           cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies,
                                           size_t count, const void *symbol,
                                           const void *from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return DRAGON_EITHER(
      true, cudaGraphAddMemcpyNodeToSymbol,
      (node, graph, dependencies, count, symbol, from, bytes, offset, kind), {
        char *address = nullptr;
        DRAGON_CHECK(symbolAddress(symbol, offset, bytes, address));
        return addNode(node, graph, dependencies, count,
                       linearCopy(address, from, bytes, kind));
      });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(
    cudaGraphNode_t *node, cudaGraph_t graph,
    const cudaGraphNode_t *dependencies, size_t count, void *to,
    const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return DRAGON_EITHER(
      true, cudaGraphAddMemcpyNodeFromSymbol,
      (node, graph, dependencies, count, to, symbol, bytes, offset, kind), {
        char *address = nullptr;
        DRAGON_CHECK(symbolAddress(symbol, offset, bytes, address));
        return addNode(node, graph, dependencies, count,
                       linearCopy(to, address, bytes, kind));
      });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *dependencies,
                                   size_t count,
                                   const cudaMemsetParams *params) {
  return DRAGON_EITHER(true, cudaGraphAddMemsetNode,
                       (node, graph, dependencies, count, params), {
                         if (!params)
                           return cudaErrorInvalidValue;
                         DRAGON_CHECK(checkSet(*params));
                         return addNode(node, graph, dependencies, count,
                                        SetWork{*params});
                       });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *dependencies,
                                 size_t count,
                                 const cudaHostNodeParams *params) {
  noteHostWorkInGraph();
  return DRAGON_EITHER(
      false, cudaGraphAddHostNode, (node, graph, dependencies, count, params), {
        if (!params || !params->fn)
          return cudaErrorInvalidValue;
        return addNode(node, graph, dependencies, count, HostWork{*params});
      });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies,
                                       size_t count, cudaGraph_t child) {
  return DRAGON_EITHER(true, cudaGraphAddChildGraphNode,
                       (node, graph, dependencies, count, child), {
                         const Graph *found = findGraph(child);
                         if (!found)
                           return cudaErrorInvalidValue;
                         return addNode(node, graph, dependencies, count,
                                        ChildWork{found->clone()});
                       });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *dependencies,
                                  size_t count) {
  return DRAGON_EITHER(
      false, cudaGraphAddEmptyNode, (node, graph, dependencies, count),
      { return addNode(node, graph, dependencies, count, {}); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node,
                                        cudaGraph_t graph,
                                        const cudaGraphNode_t *dependencies,
                                        size_t count, cudaEvent_t event) {
  return DRAGON_EITHER(false, cudaGraphAddEventRecordNode,
                       (node, graph, dependencies, count, event), {
                         return addNode(node, graph, dependencies, count,
                                        EventWork{event, true});
                       });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                      const cudaGraphNode_t *dependencies,
                                      size_t count, cudaEvent_t event) {
  return DRAGON_EITHER(false, cudaGraphAddEventWaitNode,
                       (node, graph, dependencies, count, event), {
                         return addNode(node, graph, dependencies, count,
                                        EventWork{event, false});
                       });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *dependencies,
                                     size_t count,
                                     cudaMemAllocNodeParams *params) {
  return DRAGON_EITHER(true, cudaGraphAddMemAllocNode,
                       (node, graph, dependencies, count, params), {
                         if (!params || !params->bytesize)
                           return cudaErrorInvalidValue;
                         AllocWork work;
                         DRAGON_CHECK(allocWork(front, *params, work));
                         params->dptr = work.params.dptr;
                         return addNode(node, graph, dependencies, count,
                                        std::move(work));
                       });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *dependencies,
                                    size_t count, void *pointer) {
  return DRAGON_EITHER(
      true, cudaGraphAddMemFreeNode,
      (node, graph, dependencies, count, pointer),
      { return addNode(node, graph, dependencies, count, FreeWork{pointer}); });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies,
                             const cudaGraphEdgeData *data, size_t count,
                             cudaGraphNodeParams *params) {
  return DRAGON_EITHER(
      true, cudaGraphAddNode, (node, graph, dependencies, data, count, params),
      {
        if (!params)
          return cudaErrorInvalidValue;
        switch (params->type) {
        case cudaGraphNodeTypeKernel: {
          const cudaKernelNodeParamsV2 &k = params->kernel;
          cudaKernelNodeParams same{k.func,         k.gridDim,
                                    k.blockDim,     k.sharedMemBytes,
                                    k.kernelParams, k.extra};
          return cudaGraphAddKernelNode(node, graph, dependencies, count,
                                        &same);
        }
        case cudaGraphNodeTypeMemcpy:
          return cudaGraphAddMemcpyNode(node, graph, dependencies, count,
                                        &params->memcpy.copyParams);
        case cudaGraphNodeTypeMemset: {
          const cudaMemsetParamsV2 &m = params->memset;
          cudaMemsetParams same{m.dst,         m.pitch, m.value,
                                m.elementSize, m.width, m.height};
          return cudaGraphAddMemsetNode(node, graph, dependencies, count,
                                        &same);
        }
        case cudaGraphNodeTypeHost: {
          cudaHostNodeParams same{params->host.fn, params->host.userData};
          return cudaGraphAddHostNode(node, graph, dependencies, count, &same);
        }
        case cudaGraphNodeTypeGraph:
          return cudaGraphAddChildGraphNode(node, graph, dependencies, count,
                                            params->graph.graph);
        case cudaGraphNodeTypeEmpty:
          return cudaGraphAddEmptyNode(node, graph, dependencies, count);
        case cudaGraphNodeTypeEventRecord:
          return cudaGraphAddEventRecordNode(node, graph, dependencies, count,
                                             params->eventRecord.event);
        case cudaGraphNodeTypeWaitEvent:
          return cudaGraphAddEventWaitNode(node, graph, dependencies, count,
                                           params->eventWait.event);
        default:
          printErrorOnce(fmt::format("cudaGraphAddNode: nodes of type {} are "
                                     "not supported on the cpu device",
                                     int(params->type)));
          return cudaErrorNotSupported;
        }
      });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return DRAGON_EITHER(false, cudaGraphDestroyNode, (node), {
    GraphNode *found = findNode(node);
    if (!found)
      return cudaErrorInvalidValue;
    auto &nodes = found->graph->nodes;
    for (const auto &other : nodes)
      std::erase(other->dependencies, found);
    std::erase_if(nodes, [&](const auto &own) { return own.get() == found; });
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

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         cudaKernelNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphKernelNodeGetParams, (node, params),
                       { return getParams<KernelWork>(node, params); });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         cudaMemcpy3DParms *params) {
  return DRAGON_EITHER(false, cudaGraphMemcpyNodeGetParams, (node, params),
                       { return getParams<CopyWork>(node, params); });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                         cudaMemsetParams *params) {
  return DRAGON_EITHER(false, cudaGraphMemsetNodeGetParams, (node, params),
                       { return getParams<SetWork>(node, params); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                       cudaHostNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphHostNodeGetParams, (node, params),
                       { return getParams<HostWork>(node, params); });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams *params) {
  return DRAGON_EITHER(true, cudaGraphKernelNodeSetParams, (node, params), {
    KernelWork work;
    if (!params)
      return cudaErrorInvalidValue;
    DRAGON_CHECK(kernelWork(front, *params, false, work));
    return setWork(findNode(node), std::move(work));
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms *params) {
  return DRAGON_EITHER(true, cudaGraphMemcpyNodeSetParams, (node, params), {
    return params ? setWork(findNode(node), CopyWork{*params})
                  : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to,
                                           const void *from, size_t bytes,
                                           cudaMemcpyKind kind) {
  return DRAGON_EITHER(
      true, cudaGraphMemcpyNodeSetParams1D, (node, to, from, bytes, kind),
      { return setWork(findNode(node), linearCopy(to, from, bytes, kind)); });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemsetParams *params) {
  return DRAGON_EITHER(true, cudaGraphMemsetNodeSetParams, (node, params), {
    if (!params)
      return cudaErrorInvalidValue;
    DRAGON_CHECK(checkSet(*params));
    return setWork(findNode(node), SetWork{*params});
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const cudaHostNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphHostNodeSetParams, (node, params), {
    return params && params->fn ? setWork(findNode(node), HostWork{*params})
                                : cudaErrorInvalidValue;
  });
}

} // extern "C"
