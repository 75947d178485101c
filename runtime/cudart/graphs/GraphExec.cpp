//===- GraphExec.cpp - instantiated CUDA graphs ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/GraphExec.h"

#include "runtime/cudart/graphs/GraphIssue.h"
#include "runtime/cudart/graphs/NvidiaGraph.h"
#include "runtime/cudart/launches/KernelLaunch.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <mutex>
#include <utility>

using namespace dragon;

namespace {

std::mutex lock;
std::unordered_map<const void *, std::unique_ptr<GraphExec>> &execs() {
  static auto *table =
      new std::unordered_map<const void *, std::unique_ptr<GraphExec>>;
  return *table;
}

/// An instance of the graph, which becomes its own; node I is known by the
/// handle I.
Result makeExec(std::shared_ptr<Graph> graph,
                const std::vector<cudaGraphNode_t> &handles,
                unsigned long long flags, std::unique_ptr<GraphExec> &made) {
  auto exec = std::make_unique<GraphExec>();
  exec->graph = std::move(graph);
  if (!exec->graph->order(exec->order))
    return cudaErrorInvalidValue;
  exec->flags = flags;
  exec->disabled.resize(handles.size());
  for (size_t i = 0; i < handles.size(); ++i)
    exec->numbers[handles[i]] = i;
  made = std::move(exec);
  return cudaSuccess;
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
  std::vector<cudaGraphNode_t> nodes;
  nodes.reserve(found->nodes.size());
  for (const auto &node : found->nodes)
    nodes.push_back(handleOf(node.get()));
  std::unique_ptr<GraphExec> exec;
  DRAGON_CHECK(makeExec(found->clone(), nodes, flags, exec));
  *handle = reinterpret_cast<cudaGraphExec_t>(exec.get());
  keepExec(*handle, std::move(exec));
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

/// The instance does what the graph's nodes do: those nodes stay.
void takeWork(GraphExec &exec, const Graph &graph) {
  const std::shared_ptr<Graph> copy = graph.clone();
  for (size_t i = 0; i < copy->nodes.size(); ++i)
    exec.graph->nodes[i]->work = copy->nodes[i]->work;
}

Result update(cudaGraphExec_t handle, cudaGraph_t graph,
              cudaGraphExecUpdateResultInfo *info) {
  GraphExec *found = findExec(handle);
  const Graph *from = findGraph(graph);
  if (!found || !from)
    return cudaErrorInvalidValue;
  const bool same = sameShape(*found->graph, *from);
  if (info) {
    *info = {};
    info->result = same ? cudaGraphExecUpdateSuccess
                        : cudaGraphExecUpdateErrorTopologyChanged;
  }
  if (!same)
    return cudaErrorGraphExecUpdateFailure;
  takeWork(*found, *from);
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// On a GPU
//===----------------------------------------------------------------------===//

/// `call(graph)` instantiates a graph of NVIDIA's.
Result instantiateNvidia(Front &front, cudaGraphExec_t *handle,
                         cudaGraph_t graph, unsigned long long flags,
                         const std::function<cudaError_t(cudaGraph_t)> &call) {
  // Kernels launch it, at any time.
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
    DRAGON_CHECK(keepAllResident(front));
    return call(graph);
  }
  ReadGraph read;
  DRAGON_CHECK(readGraph(front, graph, read));
  std::unique_ptr<GraphExec> exec;
  DRAGON_CHECK(makeExec(read.graph, read.nodes, flags, exec));
  exec->obstacle = read.obstacle;
  bool fits;
  DRAGON_CHECK(
      withCopiedMemory(front, *read.graph, fits, [&] { return call(graph); }));
  if (!fits) {
    if (!read.obstacle.empty()) {
      DRAGON_CHECK(keepAllResident(front));
      DRAGON_CHECK(call(graph));
    } else {
      cudaGraph_t empty = nullptr;
      if (cudaError_t error = DRAGON_NVIDIA(cudaGraphCreate, &empty, 0))
        return error;
      const cudaError_t error = call(empty);
      DRAGON_NVIDIA(cudaGraphDestroy, empty);
      DRAGON_CHECK(error);
      exec->onlyNodes = true;
    }
  }
  keepExec(*handle, std::move(exec));
  return cudaSuccess;
}

Result updateNvidia(Front &front, cudaGraphExec_t handle, cudaGraph_t graph,
                    cudaGraphExecUpdateResultInfo *info) {
  GraphExec *exec = findExec(handle);
  if (!exec) {
    DRAGON_CHECK(keepAllResident(front));
    return DRAGON_NVIDIA(cudaGraphExecUpdate, handle, graph, info);
  }
  ReadGraph read;
  DRAGON_CHECK(readGraph(front, graph, read));
  if (exec->onlyNodes) {
    const bool same =
        read.obstacle.empty() && sameShape(*exec->graph, *read.graph);
    if (info) {
      *info = {};
      info->result = same ? cudaGraphExecUpdateSuccess
                          : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!same)
      return cudaErrorGraphExecUpdateFailure;
  } else {
    bool fits;
    auto call = [&] {
      return DRAGON_NVIDIA(cudaGraphExecUpdate, handle, graph, info);
    };
    DRAGON_CHECK(withCopiedMemory(front, *read.graph, fits, call));
    if (!fits) {
      // The program makes a new instance then.
      if (info) {
        *info = {};
        info->result = cudaGraphExecUpdateErrorNotSupported;
      }
      return cudaErrorGraphExecUpdateFailure;
    }
  }
  exec->obstacle = read.obstacle;
  exec->reach = {};
  if (sameShape(*exec->graph, *read.graph)) {
    takeWork(*exec, *read.graph);
    return cudaSuccess;
  }
  // The same to NVIDIA, in another order: which node is which we do not know.
  exec->graph = read.graph;
  exec->numbers.clear();
  return exec->graph->order(exec->order) ? cudaSuccess : cudaErrorInvalidValue;
}

/// What is known of a graph's nodes, to find the buffers that they use.
struct Launched {
  std::vector<LaunchCall> launches;
  std::vector<LibraryUse> copies; ///< and what libraries use
  bool anything = false;
};

void addWork(const Graph &graph, Launched &launched) {
  auto add = [&](const void *memory, LaunchNeed need) {
    if (memory)
      launched.copies.push_back(
          {reinterpret_cast<uintptr_t>(memory), LibraryUse::Unknown, need});
  };
  for (const auto &node : graph.nodes) {
    if (const auto *kernel = std::get_if<KernelWork>(&node->work)) {
      const cudaKernelNodeParams &p = kernel->params;
      const Kernel *known = modules().find(p.func);
      if (!known)
        launched.anything = true;
      else
        launched.launches.push_back(launchCall(
            *known, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes));
    } else if (const auto *copy = std::get_if<CopyWork>(&node->work)) {
      add(copy->params.srcPtr.ptr, LaunchNeed::Read);
      add(copy->params.dstPtr.ptr, LaunchNeed::Write);
    } else if (const auto *set = std::get_if<SetWork>(&node->work)) {
      add(set->params.dst, LaunchNeed::Write);
    } else if (const auto *child = std::get_if<ChildWork>(&node->work)) {
      addWork(*child->graph, launched);
    } else if (const auto *library = std::get_if<LibraryWork>(&node->work)) {
      if (library->uses && !library->uses->followsPointers())
        launched.copies.insert(launched.copies.end(),
                               library->uses->uses.begin(),
                               library->uses->uses.end());
      else
        launched.anything = true;
    }
  }
}

/// What the instance uses, looked up again where allocations came or went.
const LibraryCall &usesOf(Front &front, GraphExec &exec) {
  if (front.runtime.libraries().isCurrent(exec.reach))
    return exec.uses;
  Launched launched;
  addWork(*exec.graph, launched);
  exec.reach = front.runtime.libraries().reachOf(
      launched.launches, launched.anything || !exec.obstacle.empty());
  exec.uses.function = "a graph";
  exec.uses.uses = std::move(exec.reach.uses);
  exec.uses.uses.insert(exec.uses.uses.end(), launched.copies.begin(),
                        launched.copies.end());
  return exec.uses;
}

} // namespace

namespace dragon {

GraphExec *findExec(cudaGraphExec_t exec) {
  std::lock_guard<std::mutex> guard(lock);
  auto it = execs().find(exec);
  return it != execs().end() ? it->second.get() : nullptr;
}

GraphNode *findNode(cudaGraphExec_t exec, cudaGraphNode_t node,
                    size_t *number) {
  GraphExec *found = findExec(exec);
  if (!found)
    return nullptr;
  auto it = found->numbers.find(node);
  if (it == found->numbers.end())
    return nullptr;
  if (number)
    *number = it->second;
  return found->graph->nodes[it->second].get();
}

void keepExec(cudaGraphExec_t handle, std::unique_ptr<GraphExec> exec) {
  std::lock_guard<std::mutex> guard(lock);
  execs()[handle] = std::move(exec);
}

bool dropExec(cudaGraphExec_t handle) {
  std::unique_ptr<GraphExec> dropped; // its memory may be freed: unlocked
  std::lock_guard<std::mutex> guard(lock);
  auto it = execs().find(handle);
  if (it == execs().end())
    return false;
  dropped = std::move(it->second);
  execs().erase(it);
  return true;
}

Result launchNvidia(Front &front, cudaGraphExec_t handle, cudaStream_t stream) {
  DRAGON_CHECK(deviceMayWriteAnywhere(front));
  auto launch = [&] { return DRAGON_NVIDIA(cudaGraphLaunch, handle, stream); };
  GraphExec *exec = findExec(handle);
  if (isCapturedByNvidia(front, stream))
    return exec && exec->onlyNodes ? cudaErrorStreamCaptureUnsupported
                                   : launch();
  if (!exec) {
    DRAGON_CHECK(keepAllResident(front));
    return launch();
  }
  exec->uses.queue = front.queue(stream);
  const LibraryCall &call = usesOf(front, *exec);
  if (!exec->onlyNodes) {
    bool fits;
    DRAGON_CHECK(runIfFits(front, call, fits, launch));
    if (fits)
      return cudaSuccess;
  }
  if (!exec->obstacle.empty())
    return tooLarge(front, call)
        .within("a graph that cannot run node by node, because {}",
                exec->obstacle);
  if (!std::exchange(exec->told, true))
    log(LogLevel::Debug,
        "a graph of {} nodes runs node by node: its buffers do not fit",
        exec->graph->nodes.size());
  return issueNodes(front, *exec->graph, exec->order, exec->disabled, stream);
}

Result changeExec(Front &front, cudaGraphExec_t handle,
                  std::initializer_list<MemoryPart> memory,
                  const std::function<cudaError_t()> &nvidia,
                  const std::function<Result()> &own) {
  GraphExec *exec = findExec(handle);
  if (!front.gpu)
    return exec ? own() : cudaErrorInvalidValue;
  if (!exec || !exec->onlyNodes)
    DRAGON_CHECK(whileThere(front, memory, nvidia));
  if (!exec)
    return cudaSuccess;
  exec->reach = {};
  const Result result = own();
  if (exec->onlyNodes)
    return result;
  if (result.error() != cudaSuccess && exec->obstacle.empty())
    exec->obstacle = "a node was changed in a way that is not known";
  return cudaSuccess;
}

} // namespace dragon

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return withDevice([&](Front &front) -> Result {
    DRAGON_CHECK(modules().initialise(front));
    if (!front.gpu)
      return instantiate(exec, graph, flags);
    return instantiateNvidia(front, exec, graph, flags, [&](cudaGraph_t from) {
      return DRAGON_NVIDIA(cudaGraphInstantiate, exec, from, flags);
    });
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec,
                                          cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec,
                                           cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params) {
  return withDevice([&](Front &front) -> Result {
    if (!params)
      return cudaErrorInvalidValue;
    DRAGON_CHECK(modules().initialise(front));
    if (front.gpu)
      return instantiateNvidia(
          front, exec, graph, params->flags, [&](cudaGraph_t from) {
            return DRAGON_NVIDIA(cudaGraphInstantiateWithParams, exec, from,
                                 params);
          });
    params->result_out = cudaGraphInstantiateSuccess;
    Result result = instantiate(exec, graph, params->flags);
    if (result.error() != cudaSuccess)
      params->result_out = cudaGraphInstantiateError;
    return result;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return withDevice([&](Front &front) -> Result {
    const bool known = dropExec(exec);
    if (front.gpu)
      return DRAGON_NVIDIA(cudaGraphExecDestroy, exec);
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec,
                                  unsigned long long *flags) {
  return DRAGON_EITHER(false, cudaGraphExecGetFlags, (exec, flags), {
    const GraphExec *found = findExec(exec);
    if (!found || !flags)
      return cudaErrorInvalidValue;
    *flags = found->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    const GraphExec *found = findExec(exec);
    if (front.gpu && !(found && found->onlyNodes))
      return DRAGON_NVIDIA(cudaGraphUpload, exec, stream);
    return found ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (front.gpu)
      return launchNvidia(front, exec, stream);
    GraphExec *found = findExec(exec);
    if (!found)
      return cudaErrorInvalidValue;
    if (capturing() && isCaptured(stream))
      return captureWork(stream, ChildWork{found->graph->clone()});
    return issueNodes(front, *found->graph, found->order, found->disabled,
                      stream);
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
  return withDevice([&](Front &front) -> Result {
    DRAGON_CHECK(modules().initialise(front));
    return front.gpu ? updateNvidia(front, exec, graph, info)
                     : update(exec, graph, info);
  });
}

} // extern "C"
