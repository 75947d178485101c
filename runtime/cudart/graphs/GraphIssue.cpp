//===- GraphIssue.cpp - the work of a graph, done now ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/GraphIssue.h"

#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/graphs/NvidiaGraph.h"
#include "runtime/cudart/launches/KernelLaunch.h"
#include "runtime/cudart/memory/GraphMemory.h"
#include "runtime/cudart/memory/Memory.h"

namespace dragon {

namespace {

Result issueAll(Front &front, const Graph &graph, cudaStream_t stream) {
  std::vector<size_t> numbers;
  if (!graph.order(numbers))
    return cudaErrorInvalidValue;
  return issueNodes(front, graph, numbers,
                    std::vector<bool>(graph.nodes.size()), stream);
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
    if (Status status = front.runtime.buffers().fill(
            row, p.value & mask, p.elementSize, p.width, front.queue(stream));
        !status.ok())
      return status;
  }
  return cudaSuccess;
}

Result issue(Front &front, const GraphWork &work, cudaStream_t stream,
             IssuedCall &last) {
  if (const auto *library = std::get_if<LibraryWork>(&work))
    return issueLibraryWork(front, *library, stream, last);
  last = {};
  if (const auto *kernel = std::get_if<KernelWork>(&work)) {
    const cudaKernelNodeParams &p = kernel->params;
    return launchKernel(
        p.func, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes, stream,
        kernel->cooperative ? LaunchKind::Cooperative : LaunchKind::Plain);
  }
  if (const auto *copy = std::get_if<CopyWork>(&work))
    return cudaMemcpy3DAsync(&copy->params, stream);
  if (const auto *set = std::get_if<SetWork>(&work)) {
    if (Status status = front.runtime.launches().runWaiting(); !status.ok())
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

} // namespace

Result issueNodes(Front &front, const Graph &graph,
                  const std::vector<size_t> &order,
                  const std::vector<bool> &disabled, cudaStream_t stream) {
  DRAGON_CHECK(deviceMayWriteAnywhere(front));
  IssuedCall last;
  for (size_t i = 0; i < order.size(); ++i) {
    if (disabled[order[i]])
      continue;
    const GraphWork &work = graph.nodes[order[i]]->work;
    // Launches that follow each other can run together, wave by wave.
    if (std::holds_alternative<KernelWork>(work) && i + 1 < order.size() &&
        !disabled[order[i + 1]] &&
        std::holds_alternative<KernelWork>(graph.nodes[order[i + 1]]->work))
      nextLaunchHints().followed = true;
    DRAGON_CHECK(issue(front, work, stream, last));
  }
  return cudaSuccess;
}

} // namespace dragon
