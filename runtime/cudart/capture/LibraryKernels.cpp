//===- LibraryKernels.cpp - kernels of libraries in graphs ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/LibraryKernels.h"

#include "runtime/cudart/front/Forward.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace dragon {

namespace {

/// More kernels than these are forgotten, all at once.
constexpr size_t MostKernels = size_t(1) << 14;

struct CaptureState {
  std::mutex lock;
  std::vector<cudaStream_t> streams;
  uint64_t calls = 0;    ///< so many have begun
  unsigned underWay = 0; ///< of them
  std::map<std::pair<CUfunction, std::vector<uintptr_t>>,
           std::shared_ptr<const LibraryCall>>
      uses;
};

CaptureState &state() {
  static auto *made = new CaptureState;
  return *made;
}

/// The driver, if it can say what a kernel of anybody's is launched with.
const CudaDriver *driverForKernels() {
  StatusOr<const CudaDriver *> driver = CudaDriver::load();
  return driver.ok() && (*driver)->GraphKernelNodeGetParams &&
                 (*driver)->GraphAddKernelNode && (*driver)->FuncGetParamInfo
             ? *driver
             : nullptr;
}

void addWords(const void *from, size_t bytes, std::vector<uintptr_t> &words) {
  for (size_t at = 0; at + sizeof(uintptr_t) <= bytes;
       at += sizeof(uintptr_t)) {
    uintptr_t word;
    std::memcpy(&word, static_cast<const char *>(from) + at, sizeof word);
    words.push_back(word);
  }
}

/// What the kernel's arguments hold that can be addresses.
std::vector<uintptr_t> wordsOf(const CudaDriver &driver,
                               const CUDA_KERNEL_NODE_PARAMS &params) {
  std::vector<uintptr_t> words;
  if (params.kernelParams) {
    size_t offset, bytes;
    for (size_t i = 0; driver.FuncGetParamInfo(params.func, i, &offset,
                                               &bytes) == CUDA_SUCCESS;
         ++i)
      addWords(params.kernelParams[i], bytes, words);
    return words;
  }
  // Pairs of a name and a value; the size is one of the values.
  const void *buffer = nullptr;
  size_t bytes = 0;
  for (void **at = params.extra; at && *at != CU_LAUNCH_PARAM_END; at += 2)
    if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = at[1];
    else if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE)
      std::memcpy(&bytes, at[1], sizeof bytes);
  if (buffer)
    addWords(buffer, bytes, words);
  return words;
}

/// The nodes of the graphs that the streams are captured into.
std::vector<cudaGraphNode_t>
nodesNow(const std::vector<cudaStream_t> &streams) {
  std::vector<cudaGraphNode_t> nodes;
  for (cudaStream_t stream : streams) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    size_t count = 0;
    if (DRAGON_NVIDIA(cudaStreamGetCaptureInfo, stream, &status, nullptr,
                      &graph, nullptr, nullptr, nullptr) ||
        status != cudaStreamCaptureStatusActive || !graph ||
        DRAGON_NVIDIA(cudaGraphGetNodes, graph, nullptr, &count) || !count)
      continue;
    const size_t first = nodes.size();
    nodes.resize(first + count);
    if (DRAGON_NVIDIA(cudaGraphGetNodes, graph, &nodes[first], &count))
      nodes.resize(first);
  }
  return nodes;
}

bool isKernelNode(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  return !DRAGON_NVIDIA(cudaGraphNodeGetType, node, &type) &&
         type == cudaGraphNodeTypeKernel;
}

} // namespace

Result readLibraryKernel(cudaGraphNode_t node, LibraryKernel &kernel) {
  kernel.driver = driverForKernels();
  if (!kernel.driver ||
      kernel.driver->GraphKernelNodeGetParams(node, &kernel.params))
    return cudaErrorNotSupported;
  const char *name = nullptr;
  if (kernel.driver->FuncGetName && kernel.params.func &&
      kernel.driver->FuncGetName(&name, kernel.params.func) == CUDA_SUCCESS)
    kernel.name = name;
  kernel.words = wordsOf(*kernel.driver, kernel.params);
  return cudaSuccess;
}

void noteCapture(cudaStream_t stream) {
  const std::lock_guard guard(state().lock);
  state().streams.push_back(stream);
}

void forgetCapture(cudaStream_t stream) {
  const std::lock_guard guard(state().lock);
  std::erase(state().streams, stream);
}

std::unique_ptr<CapturedCall> beginCapturedCall(LibraryCall call) {
  auto captured = std::make_unique<CapturedCall>();
  captured->call = std::move(call);
  std::vector<cudaStream_t> streams;
  {
    const std::lock_guard guard(state().lock);
    captured->number = ++state().calls;
    captured->alone = state().underWay++ == 0;
    streams = state().streams;
  }
  const std::vector<cudaGraphNode_t> nodes = nodesNow(streams);
  captured->before.insert(nodes.begin(), nodes.end());
  return captured;
}

void endCapturedCall(std::unique_ptr<CapturedCall> captured) {
  std::vector<cudaStream_t> streams;
  {
    const std::lock_guard guard(state().lock);
    streams = state().streams;
  }
  std::vector<LibraryKernel> kernels;
  for (cudaGraphNode_t node : nodesNow(streams))
    if (LibraryKernel kernel;
        !captured->before.contains(node) && isKernelNode(node) &&
        readLibraryKernel(node, kernel).error() == cudaSuccess)
      kernels.push_back(std::move(kernel));
  const auto uses =
      std::make_shared<const LibraryCall>(std::move(captured->call));
  const std::lock_guard guard(state().lock);
  --state().underWay;
  if (!captured->alone || state().calls != captured->number)
    return;
  if (state().uses.size() + kernels.size() > MostKernels)
    state().uses.clear();
  for (LibraryKernel &kernel : kernels)
    state().uses[{kernel.params.func, std::move(kernel.words)}] = uses;
}

void noteUnknownCapture() {
  const std::lock_guard guard(state().lock);
  ++state().calls;
}

std::shared_ptr<const LibraryCall> capturedUses(const LibraryKernel &kernel) {
  const std::lock_guard guard(state().lock);
  const auto found = state().uses.find({kernel.params.func, kernel.words});
  return found == state().uses.end() ? nullptr : found->second;
}

} // namespace dragon
