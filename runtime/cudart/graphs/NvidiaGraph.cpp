//===- NvidiaGraph.cpp - graphs of NVIDIA's, read node by node ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/NvidiaGraph.h"

#include "runtime/cudart/capture/LibraryKernels.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/launches/KernelWork.h"

#include <algorithm>
#include <unordered_map>

namespace dragon {

namespace {

/// A graph of this kernel alone, with its attributes (clusters and the like).
Result alone(const CudaDriver &driver, cudaGraphNode_t node,
             const CUDA_KERNEL_NODE_PARAMS &params, LibraryWork &work) {
  cudaGraph_t made = nullptr;
  if (cudaError_t error = DRAGON_NVIDIA(cudaGraphCreate, &made, 0))
    return error;
  const std::shared_ptr<CUgraph_st> graph(
      made, [](cudaGraph_t graph) { DRAGON_NVIDIA(cudaGraphDestroy, graph); });
  CUgraphNode copy = nullptr;
  if (driver.GraphAddKernelNode(&copy, made, nullptr, 0, &params))
    return cudaErrorNotSupported;
  if (cudaError_t error =
          DRAGON_NVIDIA(cudaGraphKernelNodeCopyAttributes, copy, node))
    return error;
  cudaGraphExec_t exec = nullptr;
  if (cudaError_t error = DRAGON_NVIDIA(cudaGraphInstantiate, &exec, made, 0))
    return error;
  work.alone = {exec, [](cudaGraphExec_t exec) {
                  DRAGON_NVIDIA(cudaGraphExecDestroy, exec);
                }};
  return cudaSuccess;
}

Result readKernelOfLibrary(cudaGraphNode_t node, GraphWork &work) {
  LibraryKernel kernel;
  DRAGON_CHECK(readLibraryKernel(node, kernel));
  LibraryWork read;
  read.name = std::move(kernel.name);
  read.uses = capturedUses(kernel);
  read.words = std::move(kernel.words);
  DRAGON_CHECK(alone(*kernel.driver, node, kernel.params, read));
  work = std::move(read);
  return cudaSuccess;
}

/// An attribute of the kernel's node is what it is without anyone setting it.
bool hasClusters(cudaGraphNode_t node) {
  cudaKernelNodeAttrValue value{};
  if (DRAGON_NVIDIA(cudaGraphKernelNodeGetAttribute, node,
                    cudaLaunchAttributeClusterDimension, &value))
    return false;
  return value.clusterDim.x > 1 || value.clusterDim.y > 1 ||
         value.clusterDim.z > 1;
}

bool isCooperative(cudaGraphNode_t node) {
  cudaKernelNodeAttrValue value{};
  return !DRAGON_NVIDIA(cudaGraphKernelNodeGetAttribute, node,
                        cudaLaunchAttributeCooperative, &value) &&
         value.cooperative;
}

Result readKernel(Front &front, cudaGraphNode_t node, GraphWork &work) {
  cudaKernelNodeParams params{};
  KernelWork own;
  if (!DRAGON_NVIDIA(cudaGraphKernelNodeGetParams, node, &params) &&
      !hasClusters(node) &&
      kernelWork(front, params, isCooperative(node), own).error() ==
          cudaSuccess) {
    work = std::move(own);
    return cudaSuccess;
  }
  return readKernelOfLibrary(node, work);
}

template <typename Work, typename Get>
Result readParams(GraphWork &work, Get get) {
  Work read;
  if (cudaError_t error = get(&read))
    return error;
  work = std::move(read);
  return cudaSuccess;
}

Result readEvent(cudaGraphNode_t node, bool record, GraphWork &work) {
  return readParams<EventWork>(work, [&](EventWork *read) {
    read->record = record;
    return record ? DRAGON_NVIDIA(cudaGraphEventRecordNodeGetEvent, node,
                                  &read->event)
                  : DRAGON_NVIDIA(cudaGraphEventWaitNodeGetEvent, node,
                                  &read->event);
  });
}

Result readChild(Front &front, cudaGraphNode_t node, GraphWork &work,
                 std::string &obstacle) {
  cudaGraph_t graph = nullptr;
  if (cudaError_t error =
          DRAGON_NVIDIA(cudaGraphChildGraphNodeGetGraph, node, &graph))
    return error;
  ReadGraph child;
  DRAGON_CHECK(readGraph(front, graph, child));
  if (obstacle.empty())
    obstacle = child.obstacle;
  work = ChildWork{std::move(child.graph)};
  return cudaSuccess;
}

Result readNode(Front &front, cudaGraphNode_t node, GraphWork &work,
                std::string &obstacle) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  if (cudaError_t error = DRAGON_NVIDIA(cudaGraphNodeGetType, node, &type))
    return error;
  switch (type) {
  case cudaGraphNodeTypeKernel:
    if (readKernel(front, node, work).error() != cudaSuccess)
      obstacle = "of a kernel among its nodes it is not known how it is "
                 "launched";
    return cudaSuccess;
  case cudaGraphNodeTypeMemcpy:
    return readParams<CopyWork>(work, [&](CopyWork *read) {
      return DRAGON_NVIDIA(cudaGraphMemcpyNodeGetParams, node, &read->params);
    });
  case cudaGraphNodeTypeMemset:
    return readParams<SetWork>(work, [&](SetWork *read) {
      return DRAGON_NVIDIA(cudaGraphMemsetNodeGetParams, node, &read->params);
    });
  case cudaGraphNodeTypeHost:
    return readParams<HostWork>(work, [&](HostWork *read) {
      return DRAGON_NVIDIA(cudaGraphHostNodeGetParams, node, &read->params);
    });
  case cudaGraphNodeTypeGraph:
    return readChild(front, node, work, obstacle);
  case cudaGraphNodeTypeEmpty:
    return cudaSuccess;
  case cudaGraphNodeTypeEventRecord:
  case cudaGraphNodeTypeWaitEvent:
    return readEvent(node, type == cudaGraphNodeTypeEventRecord, work);
  case cudaGraphNodeTypeMemAlloc:
  case cudaGraphNodeTypeMemFree:
    obstacle = "it allocates or frees memory itself";
    return cudaSuccess;
  case cudaGraphNodeTypeConditional:
    obstacle = "it has conditional nodes";
    return cudaSuccess;
  default:
    obstacle = fmt::format("it has a node of type {}", int(type));
    return cudaSuccess;
  }
}

Result readEdges(cudaGraph_t graph,
                 const std::unordered_map<cudaGraphNode_t, GraphNode *> &of) {
  size_t count = 0;
  if (cudaError_t error = DRAGON_NVIDIA(cudaGraphGetEdges, graph, nullptr,
                                        nullptr, nullptr, &count))
    return error;
  std::vector<cudaGraphNode_t> from(count), to(count);
  // Edges that let the next kernel begin early order the two all the same.
  std::vector<cudaGraphEdgeData> data(count);
  if (count)
    if (cudaError_t error = DRAGON_NVIDIA(cudaGraphGetEdges, graph, from.data(),
                                          to.data(), data.data(), &count))
      return error;
  for (size_t i = 0; i < count; ++i)
    of.at(to[i])->dependencies.push_back(of.at(from[i]));
  return cudaSuccess;
}

} // namespace

Result readGraph(Front &front, cudaGraph_t graph, ReadGraph &read) {
  size_t count = 0;
  if (cudaError_t error =
          DRAGON_NVIDIA(cudaGraphGetNodes, graph, nullptr, &count))
    return error;
  read.nodes.resize(count);
  if (count)
    if (cudaError_t error =
            DRAGON_NVIDIA(cudaGraphGetNodes, graph, read.nodes.data(), &count))
      return error;
  read.graph = std::make_shared<Graph>();
  std::unordered_map<cudaGraphNode_t, GraphNode *> of;
  for (cudaGraphNode_t node : read.nodes) {
    GraphWork work;
    DRAGON_CHECK(readNode(front, node, work, read.obstacle));
    of[node] = read.graph->add(std::move(work), {});
  }
  return readEdges(graph, of);
}

static void addCopied(const Graph &graph, LibraryCall &call) {
  auto add = [&](const void *memory, size_t bytes) {
    if (memory && bytes)
      call.uses.push_back(
          {reinterpret_cast<uintptr_t>(memory), bytes, LaunchNeed::Read});
  };
  for (const auto &node : graph.nodes) {
    if (const auto *copy = std::get_if<CopyWork>(&node->work)) {
      const cudaMemcpy3DParms &p = copy->params;
      for (const cudaPitchedPtr *side : {&p.srcPtr, &p.dstPtr})
        add(side->ptr, side->pitch * std::max<size_t>(side->ysize, 1) *
                           std::max<size_t>(p.extent.depth, 1));
    } else if (const auto *set = std::get_if<SetWork>(&node->work)) {
      const cudaMemsetParams &p = set->params;
      add(p.dst, p.height > 1 ? p.pitch * p.height : p.width * p.elementSize);
    } else if (const auto *child = std::get_if<ChildWork>(&node->work)) {
      addCopied(*child->graph, call);
    }
  }
}

Result runIfFits(Front &front, const LibraryCall &call, bool &fits,
                 const std::function<cudaError_t()> &work) {
  cudaError_t error = cudaSuccess;
  StatusOr<bool> ran = front.runtime.libraries().run(call, [&]() -> Status {
    error = work();
    return {};
  });
  if (!ran.ok())
    return ran.takeStatus();
  fits = *ran;
  return error;
}

Status tooLarge(Front &front, const LibraryCall &call) {
  LibraryHold hold;
  Status status = front.runtime.libraries().beginLibraryCall(call, hold);
  if (!status.ok())
    return status;
  // Another thread has made room meanwhile.
  DRAGON_TRY(front.runtime.libraries().endLibraryCall(hold));
  return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                       "its buffers did not fit into device memory");
}

Result withCopiedMemory(Front &front, const Graph &graph, bool &fits,
                        const std::function<cudaError_t()> &call) {
  LibraryCall uses;
  uses.function = "the copies of a graph";
  uses.queue = front.queue(nullptr);
  addCopied(graph, uses);
  fits = true;
  if (uses.uses.empty())
    return call();
  return runIfFits(front, uses, fits, call);
}

Result issueLibraryWork(Front &front, const LibraryWork &work,
                        cudaStream_t stream, IssuedCall &last) {
  LibraryCall call;
  if (!work.uses) {
    last = {};
    // Also what is in an array of pointers, which earlier nodes may have made.
    for (uintptr_t word : work.words)
      DRAGON_CHECK(front.runtime.libraries().addReachable(word, call));
  } else {
    if (work.uses != last.call) {
      last = {work.uses, *work.uses};
      last.followed.queue = front.queue(stream);
      DRAGON_CHECK(front.runtime.libraries().followPointers(last.followed));
    }
    call = last.followed;
  }
  call.function = work.name.empty() ? "a library's kernel" : work.name.c_str();
  call.queue = front.queue(stream);
  auto launch = [&] {
    return DRAGON_NVIDIA(cudaGraphLaunch, work.alone.get(), stream);
  };
  bool fits;
  DRAGON_CHECK(runIfFits(front, call, fits, launch));
  return fits ? cudaSuccess
              : Result(tooLarge(front, call)
                           .within("'{}', a library's kernel in a graph",
                                   call.function));
}

} // namespace dragon
