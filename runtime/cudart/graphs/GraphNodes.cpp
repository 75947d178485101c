//===- GraphNodes.cpp - nodes that a program adds to a graph --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is added to a graph of NVIDIA's works on memory that we manage, later.
// Only what copies and fills name has to be there now: the driver looks at it.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/GraphCalls.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/launches/KernelWork.h"
#include "runtime/cudart/memory/GraphMemory.h"

using namespace dragon;

namespace {

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

} // namespace

Result dragon::symbolAddress(const void *symbol, size_t offset, size_t bytes,
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

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *dependencies,
                                   size_t count,
                                   const cudaKernelNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphAddKernelNode,
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
  if (!params)
    return leave(cudaErrorInvalidValue);
  return DRAGON_EITHER_THERE(
      (sideOf(params->srcPtr, params->extent),
       sideOf(params->dstPtr, params->extent)),
      cudaGraphAddMemcpyNode, (node, graph, dependencies, count, params),
      { return addNode(node, graph, dependencies, count, CopyWork{*params}); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *dependencies,
                                     size_t count, void *to, const void *from,
                                     size_t bytes, cudaMemcpyKind kind) {
  return DRAGON_EITHER_THERE(
      (MemoryPart{to, bytes}, MemoryPart{from, bytes}),
      cudaGraphAddMemcpyNode1D,
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
  return DRAGON_EITHER_THERE(
      (MemoryPart{from, bytes}), cudaGraphAddMemcpyNodeToSymbol,
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
  return DRAGON_EITHER_THERE(
      (MemoryPart{to, bytes}), cudaGraphAddMemcpyNodeFromSymbol,
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
  if (!params)
    return leave(cudaErrorInvalidValue);
  return DRAGON_EITHER_THERE((partOf(*params)), cudaGraphAddMemsetNode,
                             (node, graph, dependencies, count, params), {
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
  return DRAGON_EITHER(false, cudaGraphAddChildGraphNode,
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
  return DRAGON_EITHER(false, cudaGraphAddMemAllocNode,
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
      false, cudaGraphAddMemFreeNode,
      (node, graph, dependencies, count, pointer),
      { return addNode(node, graph, dependencies, count, FreeWork{pointer}); });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies,
                             const cudaGraphEdgeData *data, size_t count,
                             cudaGraphNodeParams *params) {
  if (!params)
    return leave(cudaErrorInvalidValue);
  MemoryPart first{nullptr, 0}, second{nullptr, 0};
  if (params->type == cudaGraphNodeTypeMemcpy) {
    const cudaMemcpy3DParms &copy = params->memcpy.copyParams;
    first = sideOf(copy.srcPtr, copy.extent);
    second = sideOf(copy.dstPtr, copy.extent);
  } else if (params->type == cudaGraphNodeTypeMemset) {
    first = partOf(setParams(*params));
  }
  return DRAGON_EITHER_THERE(
      (first, second), cudaGraphAddNode,
      (node, graph, dependencies, data, count, params), {
        switch (params->type) {
        case cudaGraphNodeTypeKernel: {
          const cudaKernelNodeParams same = kernelParams(*params);
          return cudaGraphAddKernelNode(node, graph, dependencies, count,
                                        &same);
        }
        case cudaGraphNodeTypeMemcpy:
          return cudaGraphAddMemcpyNode(node, graph, dependencies, count,
                                        &params->memcpy.copyParams);
        case cudaGraphNodeTypeMemset: {
          const cudaMemsetParams same = setParams(*params);
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

} // extern "C"
