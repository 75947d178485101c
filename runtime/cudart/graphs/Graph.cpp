//===- Graph.cpp - CUDA graphs of the cpu device --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/Graph.h"

#include "runtime/cudart/launches/KernelLaunch.h"
#include "runtime/cudart/memory/Memory.h"
#include "runtime/cudart/modules/Module.h"

#include <algorithm>
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

/// Issues the graph's nodes one after another.
Result issueAll(Front &front, const Graph &graph, cudaStream_t stream) {
  std::vector<size_t> numbers;
  if (!graph.order(numbers))
    return cudaErrorInvalidValue;
  for (size_t number : numbers)
    DRAGON_CHECK(issue(front, graph.nodes[number]->work, stream));
  return cudaSuccess;
}

Result fill(Front &front, const cudaMemsetParams &p, cudaStream_t stream) {
  DRAGON_CHECK(checkSet(p));
  // By rows: a set of two dimensions knows bytes only.
  for (size_t y = 0; y < p.height; ++y) {
    char *row = static_cast<char *>(p.dst) + y * p.pitch;
    if (!isDeviceAddress(front, reinterpret_cast<uintptr_t>(row)) ||
        !staysInBuffer(front, reinterpret_cast<uintptr_t>(row),
                       p.width * p.elementSize))
      return cudaErrorInvalidValue;
    uint32_t mask = p.elementSize == 4 ? ~0u : (1u << (8 * p.elementSize)) - 1;
    if (Status status = front.runtime.fill(row, p.value & mask, p.elementSize,
                                           p.width, front.queue(stream));
        !status.ok())
      return status;
  }
  return cudaSuccess;
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

Result kernelWork(Front &front, const cudaKernelNodeParams &params,
                  bool cooperative, KernelWork &work) {
  Kernel *kernel = modules().find(params.func);
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  DRAGON_CHECK(modules().prepare(front, *kernel));
  DRAGON_CHECK(checkLaunch(front, *kernel, params.gridDim, params.blockDim,
                           params.sharedMemBytes));
  const KernelRecord *record = kernel->info.record;
  if (params.extra || !record) {
    printErrorOnce(fmt::format(
        "kernel '{}' as a node of a graph: its arguments are {}, which is not "
        "supported on the cpu device",
        kernel->name,
        params.extra ? "given in a buffer ('extra')" : "not known"));
    return cudaErrorNotSupported;
  }
  if (record->NumArgs && !params.kernelParams)
    return cudaErrorInvalidValue;
  auto arguments = std::make_shared<KernelWork::Arguments>();
  const uint32_t *sizes = kernel->info.summary->argSizes(*record);
  for (uint32_t i = 0; i < record->NumArgs; ++i) {
    const char *from = static_cast<const char *>(params.kernelParams[i]);
    arguments->bytes.emplace_back(from, from + sizes[i]);
  }
  for (std::vector<char> &bytes : arguments->bytes)
    arguments->pointers.push_back(bytes.data());
  work.params = params;
  work.params.kernelParams = arguments->pointers.data();
  work.cooperative = cooperative;
  work.arguments = std::move(arguments);
  return cudaSuccess;
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

namespace {

/// Memory that graphs allocate, at one address for all launches.
struct GraphMemory {
  bool kept = true;       ///< a node has it
  bool allocated = false; ///< launched, and not freed since
};

std::mutex memoryLock;
std::unordered_map<const void *, GraphMemory> &graphMemory() {
  static auto *table = new std::unordered_map<const void *, GraphMemory>;
  return *table;
}

/// The last node that had it is gone. What a launch has allocated stays until
/// the program frees it.
void dropGraphMemory(Front &front, void *pointer) {
  {
    std::lock_guard<std::mutex> guard(memoryLock);
    auto it = graphMemory().find(pointer);
    if (it == graphMemory().end())
      return;
    it->second.kept = false;
    if (it->second.allocated)
      return;
  }
  freeForProgram(front, pointer);
}

} // namespace

Result allocWork(Front &front, const cudaMemAllocNodeParams &params,
                 AllocWork &work) {
  void *pointer = nullptr;
  DRAGON_CHECK(allocateForProgram(front, &pointer, params.bytesize, {}));
  work.params = params;
  work.params.dptr = pointer;
  std::lock_guard<std::mutex> guard(memoryLock);
  graphMemory()[pointer] = {};
  work.memory = std::shared_ptr<void>(
      pointer, [&front](void *memory) { dropGraphMemory(front, memory); });
  return cudaSuccess;
}

bool freedForGraph(const void *pointer) {
  std::lock_guard<std::mutex> guard(memoryLock);
  auto it = graphMemory().find(pointer);
  if (it == graphMemory().end())
    return false;
  it->second.allocated = false;
  if (it->second.kept)
    return true;
  graphMemory().erase(it);
  return false;
}

void forgetGraphMemory() {
  std::lock_guard<std::mutex> guard(memoryLock);
  graphMemory().clear();
}

/// What nodes that allocate and free do when they are launched.
static Result allocateOrFree(Front &front, const GraphWork &work) {
  const auto *alloc = std::get_if<AllocWork>(&work);
  const auto *free = std::get_if<FreeWork>(&work);
  if (!alloc && !free)
    return cudaSuccess;
  {
    std::lock_guard<std::mutex> guard(memoryLock);
    auto it = graphMemory().find(alloc ? alloc->params.dptr : free->pointer);
    if (it == graphMemory().end())
      return cudaSuccess;
    if (alloc) {
      it->second.allocated = true;
      return cudaSuccess;
    }
  }
  return freeForProgram(front, free->pointer);
}

Result issue(Front &front, const GraphWork &work, cudaStream_t stream) {
  if (const auto *kernel = std::get_if<KernelWork>(&work)) {
    const cudaKernelNodeParams &p = kernel->params;
    return launchKernel(p.func, p.gridDim, p.blockDim, p.kernelParams,
                        p.sharedMemBytes, stream, kernel->cooperative);
  }
  if (const auto *copy = std::get_if<CopyWork>(&work))
    return cudaMemcpy3DAsync(&copy->params, stream);
  if (const auto *set = std::get_if<SetWork>(&work)) {
    if (Status status = front.runtime.runWaiting(); !status.ok())
      return reportOfLaunch(status);
    return fill(front, set->params, stream);
  }
  if (const auto *host = std::get_if<HostWork>(&work))
    return cudaLaunchHostFunc(stream, host->params.fn, host->params.userData);
  if (const auto *child = std::get_if<ChildWork>(&work))
    return issueAll(front, *child->graph, stream);
  if (const auto *event = std::get_if<EventWork>(&work))
    return event->record ? cudaEventRecord(event->event, stream)
                         : cudaStreamWaitEvent(stream, event->event, 0);
  return allocateOrFree(front, work);
}

cudaGraphNodeType typeOf(const GraphWork &work) {
  switch (work.index()) {
  case 1:
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
