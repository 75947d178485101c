//===- GraphExec.cpp - instantiated CUDA graphs ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/graphs/GraphCalls.h"
#include "runtime/cudart/graphs/GraphIssue.h"
#include "runtime/cudart/launches/KernelWork.h"

#include <mutex>
#include <unordered_map>

using namespace dragon;

namespace {

struct GraphExec {
  std::shared_ptr<Graph> graph; ///< its own copy
  std::vector<size_t> order;
  std::vector<bool> disabled;
  /// The nodes that it was instantiated from.
  std::unordered_map<cudaGraphNode_t, size_t> numbers;
  unsigned long long flags = 0;
};

std::mutex lock;
std::unordered_map<const void *, std::unique_ptr<GraphExec>> &execs() {
  static auto *table =
      new std::unordered_map<const void *, std::unique_ptr<GraphExec>>;
  return *table;
}

GraphExec *find(cudaGraphExec_t exec) {
  std::lock_guard<std::mutex> guard(lock);
  auto it = execs().find(exec);
  return it != execs().end() ? it->second.get() : nullptr;
}

/// The instantiated node that was made of this one.
GraphNode *find(cudaGraphExec_t exec, cudaGraphNode_t node,
                size_t *number = nullptr) {
  GraphExec *found = find(exec);
  if (!found)
    return nullptr;
  auto it = found->numbers.find(node);
  if (it == found->numbers.end())
    return nullptr;
  if (number)
    *number = it->second;
  return found->graph->nodes[it->second].get();
}

Result instantiate(cudaGraphExec_t *handle, cudaGraph_t graph,
                   unsigned long long flags) {
  constexpr unsigned long long Known =
      cudaGraphInstantiateFlagAutoFreeOnLaunch |
      cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagUseNodePriority;
  const Graph *found = findGraph(graph);
  if (!handle || !found)
    return cudaErrorInvalidValue;
  if (flags & ~Known) {
    printErrorOnce("graphs that kernels launch are not supported on the cpu "
                   "device");
    return cudaErrorNotSupported;
  }
  auto exec = std::make_unique<GraphExec>();
  exec->graph = found->clone();
  if (!exec->graph->order(exec->order))
    return cudaErrorInvalidValue;
  exec->flags = flags;
  exec->disabled.resize(found->nodes.size());
  for (size_t i = 0; i < found->nodes.size(); ++i)
    exec->numbers[handleOf(found->nodes[i].get())] = i;
  *handle = reinterpret_cast<cudaGraphExec_t>(exec.get());
  std::lock_guard<std::mutex> guard(lock);
  execs().emplace(exec.get(), std::move(exec));
  return cudaSuccess;
}

/// Whether both have the same nodes in the same order with the same edges.
bool sameShape(const Graph &a, const Graph &b) {
  if (a.nodes.size() != b.nodes.size())
    return false;
  std::unordered_map<const GraphNode *, const GraphNode *> other;
  for (size_t i = 0; i < a.nodes.size(); ++i)
    other[a.nodes[i].get()] = b.nodes[i].get();
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const GraphNode &x = *a.nodes[i], &y = *b.nodes[i];
    if (typeOf(x.work) != typeOf(y.work) ||
        x.dependencies.size() != y.dependencies.size())
      return false;
    for (size_t d = 0; d < x.dependencies.size(); ++d)
      if (other[x.dependencies[d]] != y.dependencies[d])
        return false;
  }
  return true;
}

} // namespace

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return DRAGON_EITHER(true, cudaGraphInstantiate, (exec, graph, flags),
                       { return instantiate(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec,
                                          cudaGraph_t graph,
                                          unsigned long long flags) {
  return DRAGON_EITHER(true, cudaGraphInstantiateWithFlags,
                       (exec, graph, flags),
                       { return instantiate(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec,
                                           cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params) {
  return DRAGON_EITHER(
      true, cudaGraphInstantiateWithParams, (exec, graph, params), {
        if (!params)
          return cudaErrorInvalidValue;
        params->result_out = cudaGraphInstantiateSuccess;
        Result result = instantiate(exec, graph, params->flags);
        if (result.error() != cudaSuccess)
          params->result_out = cudaGraphInstantiateError;
        return result;
      });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return DRAGON_EITHER(false, cudaGraphExecDestroy, (exec), {
    std::lock_guard<std::mutex> guard(lock);
    return execs().erase(exec) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec,
                                  unsigned long long *flags) {
  return DRAGON_EITHER(false, cudaGraphExecGetFlags, (exec, flags), {
    const GraphExec *found = find(exec);
    if (!found || !flags)
      return cudaErrorInvalidValue;
    *flags = found->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return DRAGON_EITHER(true, cudaGraphUpload, (exec, stream), {
    return find(exec) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return DRAGON_EITHER(true, cudaGraphLaunch, (exec, stream), {
    GraphExec *found = find(exec);
    if (!found)
      return cudaErrorInvalidValue;
    if (capturing() && isCaptured(stream))
      return captureWork(stream, ChildWork{found->graph->clone()});
    for (size_t number : found->order)
      if (!found->disabled[number])
        DRAGON_CHECK(issue(front, found->graph->nodes[number]->work, stream));
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
  return DRAGON_EITHER(true, cudaGraphExecUpdate, (exec, graph, info), {
    GraphExec *found = find(exec);
    const Graph *from = findGraph(graph);
    if (!found || !from)
      return cudaErrorInvalidValue;
    bool same = sameShape(*found->graph, *from);
    if (info) {
      *info = {};
      info->result = same ? cudaGraphExecUpdateSuccess
                          : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!same)
      return cudaErrorGraphExecUpdateFailure;
    // The copy's nodes stay: only what they do changes.
    std::shared_ptr<Graph> copy = from->clone();
    for (size_t i = 0; i < copy->nodes.size(); ++i)
      found->graph->nodes[i]->work = copy->nodes[i]->work;
    return cudaSuccess;
  });
}

cudaError_t
cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                 const cudaKernelNodeParams *params) {
  return DRAGON_EITHER(true, cudaGraphExecKernelNodeSetParams,
                       (exec, node, params), {
                         KernelWork work;
                         if (!params)
                           return cudaErrorInvalidValue;
                         DRAGON_CHECK(kernelWork(front, *params, false, work));
                         return setWork(find(exec, node), std::move(work));
                       });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec,
                                             cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *params) {
  return DRAGON_EITHER(
      true, cudaGraphExecMemcpyNodeSetParams, (exec, node, params), {
        return params ? setWork(find(exec, node), CopyWork{*params})
                      : cudaErrorInvalidValue;
      });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                               cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return DRAGON_EITHER(
      true, cudaGraphExecMemcpyNodeSetParams1D,
      (exec, node, to, from, bytes, kind),
      { return setWork(find(exec, node), linearCopy(to, from, bytes, kind)); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec,
                                             cudaGraphNode_t node,
                                             const cudaMemsetParams *params) {
  return DRAGON_EITHER(true, cudaGraphExecMemsetNodeSetParams,
                       (exec, node, params), {
                         if (!params)
                           return cudaErrorInvalidValue;
                         DRAGON_CHECK(checkSet(*params));
                         return setWork(find(exec, node), SetWork{*params});
                       });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec,
                                           cudaGraphNode_t node,
                                           const cudaHostNodeParams *params) {
  return DRAGON_EITHER(
      true, cudaGraphExecHostNodeSetParams, (exec, node, params), {
        return params && params->fn
                   ? setWork(find(exec, node), HostWork{*params})
                   : cudaErrorInvalidValue;
      });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                 cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return DRAGON_EITHER(
      true, cudaGraphExecChildGraphNodeSetParams, (exec, node, child), {
        const Graph *found = findGraph(child);
        return found ? setWork(find(exec, node), ChildWork{found->clone()})
                     : cudaErrorInvalidValue;
      });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned enabled) {
  return DRAGON_EITHER(false, cudaGraphNodeSetEnabled, (exec, node, enabled), {
    size_t number = 0;
    if (!find(exec, node, &number))
      return cudaErrorInvalidValue;
    find(exec)->disabled[number] = !enabled;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned *enabled) {
  return DRAGON_EITHER(false, cudaGraphNodeGetEnabled, (exec, node, enabled), {
    size_t number = 0;
    if (!enabled || !find(exec, node, &number))
      return cudaErrorInvalidValue;
    *enabled = !find(exec)->disabled[number];
    return cudaSuccess;
  });
}

} // extern "C"
