//===- GraphExecParams.cpp - what an instance's nodes are to do -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calls that change nodes of an instantiated graph. On a GPU they are made
// twice: to NVIDIA's instance and to our copy of it.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/GraphExec.h"
#include "runtime/cudart/graphs/NvidiaGraph.h"
#include "runtime/cudart/launches/KernelWork.h"

#include <algorithm>

using namespace dragon;

namespace {

/// Such a call, in the process's front.
template <typename Nvidia, typename Own>
cudaError_t changed(cudaGraphExec_t exec,
                    std::initializer_list<MemoryPart> memory, Nvidia &&nvidia,
                    Own &&own) {
  return withDevice([&](Front &front) -> Result {
    DRAGON_CHECK(modules().initialise(front));
    return changeExec(front, exec, memory, nvidia,
                      [&]() -> Result { return own(front); });
  });
}

} // namespace

extern "C" {

cudaError_t
cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                 const cudaKernelNodeParams *params) {
  return changed(
      exec, {},
      [&] {
        return DRAGON_NVIDIA(cudaGraphExecKernelNodeSetParams, exec, node,
                             params);
      },
      [&](Front &front) -> Result {
        KernelWork work;
        if (!params)
          return cudaErrorInvalidValue;
        DRAGON_CHECK(kernelWork(front, *params, false, work));
        GraphNode *found = findNode(exec, node);
        if (const auto *before =
                found ? std::get_if<KernelWork>(&found->work) : nullptr)
          work.cooperative = before->cooperative;
        return setWork(found, std::move(work));
      });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec,
                                             cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *params) {
  if (!params)
    return leave(cudaErrorInvalidValue);
  return changed(
      exec,
      {sideOf(params->srcPtr, params->extent),
       sideOf(params->dstPtr, params->extent)},
      [&] {
        return DRAGON_NVIDIA(cudaGraphExecMemcpyNodeSetParams, exec, node,
                             params);
      },
      [&](Front &) {
        return setWork(findNode(exec, node), CopyWork{*params});
      });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                               cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return changed(
      exec, {{to, bytes}, {from, bytes}},
      [&] {
        return DRAGON_NVIDIA(cudaGraphExecMemcpyNodeSetParams1D, exec, node, to,
                             from, bytes, kind);
      },
      [&](Front &) {
        return setWork(findNode(exec, node), linearCopy(to, from, bytes, kind));
      });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
    const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  char *address = nullptr;
  if (cudaError_t error = symbolAddress(symbol, offset, bytes, address).error())
    return leave(error);
  return cudaGraphExecMemcpyNodeSetParams1D(exec, node, address, from, bytes,
                                            kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *symbol,
    size_t bytes, size_t offset, cudaMemcpyKind kind) {
  char *address = nullptr;
  if (cudaError_t error = symbolAddress(symbol, offset, bytes, address).error())
    return leave(error);
  return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, address, bytes,
                                            kind);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec,
                                             cudaGraphNode_t node,
                                             const cudaMemsetParams *params) {
  if (!params)
    return leave(cudaErrorInvalidValue);
  return changed(
      exec, {partOf(*params)},
      [&] {
        return DRAGON_NVIDIA(cudaGraphExecMemsetNodeSetParams, exec, node,
                             params);
      },
      [&](Front &) -> Result {
        DRAGON_CHECK(checkSet(*params));
        return setWork(findNode(exec, node), SetWork{*params});
      });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec,
                                           cudaGraphNode_t node,
                                           const cudaHostNodeParams *params) {
  return changed(
      exec, {},
      [&] {
        return DRAGON_NVIDIA(cudaGraphExecHostNodeSetParams, exec, node,
                             params);
      },
      [&](Front &) {
        return params && params->fn
                   ? setWork(findNode(exec, node), HostWork{*params})
                   : cudaErrorInvalidValue;
      });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                 cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return withDevice([&](Front &front) -> Result {
    DRAGON_CHECK(modules().initialise(front));
    ReadGraph read;
    if (front.gpu) {
      DRAGON_CHECK(readGraph(front, child, read));
    } else if (const Graph *found = findGraph(child)) {
      read.graph = found->clone();
    } else {
      return cudaErrorInvalidValue;
    }
    auto nvidia = [&] {
      return DRAGON_NVIDIA(cudaGraphExecChildGraphNodeSetParams, exec, node,
                           child);
    };
    auto own = [&]() -> Result {
      if (!read.obstacle.empty())
        return cudaErrorNotSupported;
      return setWork(findNode(exec, node), ChildWork{read.graph});
    };
    bool fits = true;
    auto change = [&] {
      return changeExec(front, exec, {}, nvidia, own).error();
    };
    if (!front.gpu)
      return change();
    DRAGON_CHECK(withCopiedMemory(front, *read.graph, fits, change));
    return fits ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec,
                                                 cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return changed(
      exec, {},
      [&] {
        return DRAGON_NVIDIA(cudaGraphExecEventRecordNodeSetEvent, exec, node,
                             event);
      },
      [&](Front &) {
        return setWork(findNode(exec, node), EventWork{event, true});
      });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec,
                                               cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return changed(
      exec, {},
      [&] {
        return DRAGON_NVIDIA(cudaGraphExecEventWaitNodeSetEvent, exec, node,
                             event);
      },
      [&](Front &) {
        return setWork(findNode(exec, node), EventWork{event, false});
      });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec,
                                       cudaGraphNode_t node,
                                       cudaGraphNodeParams *params) {
  if (!params)
    return leave(cudaErrorInvalidValue);
  switch (params->type) {
  case cudaGraphNodeTypeKernel: {
    const cudaKernelNodeParams same = kernelParams(*params);
    return cudaGraphExecKernelNodeSetParams(exec, node, &same);
  }
  case cudaGraphNodeTypeMemcpy:
    return cudaGraphExecMemcpyNodeSetParams(exec, node,
                                            &params->memcpy.copyParams);
  case cudaGraphNodeTypeMemset: {
    const cudaMemsetParams same = setParams(*params);
    return cudaGraphExecMemsetNodeSetParams(exec, node, &same);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams same{params->host.fn, params->host.userData};
    return cudaGraphExecHostNodeSetParams(exec, node, &same);
  }
  case cudaGraphNodeTypeGraph:
    return cudaGraphExecChildGraphNodeSetParams(exec, node,
                                                params->graph.graph);
  case cudaGraphNodeTypeEventRecord:
    return cudaGraphExecEventRecordNodeSetEvent(exec, node,
                                                params->eventRecord.event);
  case cudaGraphNodeTypeWaitEvent:
    return cudaGraphExecEventWaitNodeSetEvent(exec, node,
                                              params->eventWait.event);
  default:
    return withDevice([&](Front &front) -> Result {
      if (!front.gpu)
        return cudaErrorNotSupported;
      return changeExec(
          front, exec, {},
          [&] {
            return DRAGON_NVIDIA(cudaGraphExecNodeSetParams, exec, node,
                                 params);
          },
          []() -> Result { return cudaErrorNotSupported; });
    });
  }
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned enabled) {
  return changed(
      exec, {},
      [&] {
        return DRAGON_NVIDIA(cudaGraphNodeSetEnabled, exec, node, enabled);
      },
      [&](Front &) -> Result {
        size_t number = 0;
        if (!findNode(exec, node, &number))
          return cudaErrorInvalidValue;
        findExec(exec)->disabled[number] = !enabled;
        return cudaSuccess;
      });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned *enabled) {
  return withDevice([&](Front &front) -> Result {
    size_t number = 0;
    const GraphNode *found = findNode(exec, node, &number);
    if (front.gpu && !(found && findExec(exec)->onlyNodes))
      return DRAGON_NVIDIA(cudaGraphNodeGetEnabled, exec, node, enabled);
    if (!enabled || !found)
      return cudaErrorInvalidValue;
    *enabled = !findExec(exec)->disabled[number];
    return cudaSuccess;
  });
}

} // extern "C"
