//===- Capture.cpp - streams that are being captured ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Capture.h"

#include "runtime/cudart/capture/LibraryKernels.h"
#include "runtime/cudart/modules/NvidiaOrOwn.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_set>

using namespace dragon;

namespace {

/// A capture on the cpu device.
struct OwnCapture {
  std::shared_ptr<Graph> graph;
  cudaGraph_t handle = nullptr; ///< into a graph that the program has
  cudaStream_t origin;
  unsigned long long id;
  using Tail = std::vector<GraphNode *>;
  /// The streams that take part, and the nodes that the next one is behind.
  std::map<cudaStream_t, Tail> streams;
  std::map<cudaEvent_t, Tail> events;
};

std::mutex lock;
std::vector<std::unique_ptr<OwnCapture>> &captures() {
  static auto *list = new std::vector<std::unique_ptr<OwnCapture>>;
  return *list;
}

OwnCapture *captureOf(cudaStream_t stream) {
  for (auto &capture : captures())
    if (capture->streams.count(stream))
      return capture.get();
  return nullptr;
}

void addTo(OwnCapture::Tail &tail, const OwnCapture::Tail &more) {
  for (GraphNode *node : more)
    if (!std::count(tail.begin(), tail.end(), node))
      tail.push_back(node);
}

/// All that the stream captured is before the origin's end.
bool isJoined(const OwnCapture &capture) {
  std::unordered_set<const GraphNode *> before;
  OwnCapture::Tail todo = capture.streams.at(capture.origin);
  while (!todo.empty()) {
    GraphNode *node = todo.back();
    todo.pop_back();
    if (before.insert(node).second)
      addTo(todo, node->dependencies);
  }
  for (const auto &[stream, tail] : capture.streams)
    for (const GraphNode *node : tail)
      if (!before.count(node))
        return false;
  return true;
}

Result begin(cudaStream_t stream, std::shared_ptr<Graph> graph,
             cudaGraph_t handle, OwnCapture::Tail tail) {
  // The legacy default stream cannot be captured.
  if (!stream || stream == cudaStreamLegacy)
    return cudaErrorStreamCaptureUnsupported;
  static std::atomic<unsigned long long> nextId{1};
  std::lock_guard<std::mutex> guard(lock);
  if (captureOf(stream))
    return cudaErrorIllegalState;
  auto capture = std::make_unique<OwnCapture>();
  capture->graph = std::move(graph);
  capture->handle = handle;
  capture->origin = stream;
  capture->id = nextId++;
  capture->streams[stream] = std::move(tail);
  captures().push_back(std::move(capture));
  ++activeCaptures;
  return cudaSuccess;
}

Result end(cudaStream_t stream, cudaGraph_t *graph) {
  std::unique_ptr<OwnCapture> capture;
  {
    std::lock_guard<std::mutex> guard(lock);
    OwnCapture *found = captureOf(stream);
    if (!found)
      return cudaErrorIllegalState;
    if (found->origin != stream)
      return cudaErrorStreamCaptureUnmatched;
    auto it = std::find_if(captures().begin(), captures().end(),
                           [&](auto &own) { return own.get() == found; });
    capture = std::move(*it);
    captures().erase(it);
    --activeCaptures;
  }
  if (graph)
    *graph = nullptr;
  if (!isJoined(*capture))
    return cudaErrorStreamCaptureUnjoined;
  if (graph)
    *graph = capture->handle ? capture->handle
                             : keepGraph(std::move(capture->graph));
  return cudaSuccess;
}

template <typename Begin>
Result beginNvidia(Front &front, cudaStream_t stream, Begin &&begin) {
  DRAGON_CHECK(modules().initialise(front));
  // Beside another capture it is too late.
  if (!capturing())
    if (Status status = front.runtime.libraries().beforeCapture(); !status.ok())
      return status;
  cudaError_t error = begin();
  if (error != cudaSuccess)
    return error;
  noteCapture(stream);
  ++activeCaptures;
  return error;
}

} // namespace

namespace dragon {

bool isCaptured(cudaStream_t stream) {
  std::lock_guard<std::mutex> guard(lock);
  return captureOf(stream) != nullptr;
}

bool isCapturedByNvidia(Front &front, cudaStream_t stream) {
  // An error: the default stream, which a capture elsewhere forbids.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return front.gpu && capturing() &&
         (DRAGON_NVIDIA(cudaStreamIsCapturing, stream, &status) !=
              cudaSuccess ||
          status != cudaStreamCaptureStatusNone);
}

Result whileThere(Front &front, std::initializer_list<MemoryPart> parts,
                  const std::function<cudaError_t()> &call) {
  LibraryCall uses;
  uses.function = "a copy or a fill of a graph";
  uses.onlyLooks = true;
  for (const MemoryPart &part : parts) {
    const auto address = reinterpret_cast<uintptr_t>(part.memory);
    if (part.bytes && front.runtime.buffers().find(address))
      uses.uses.push_back({address, part.bytes, LaunchNeed::Read});
  }
  if (uses.uses.empty())
    return call();
  LibraryHold hold;
  DRAGON_CHECK(front.runtime.libraries().beginLibraryCall(uses, hold));
  const cudaError_t error = call();
  DRAGON_CHECK(front.runtime.libraries().endLibraryCall(hold));
  return error;
}

Result captureWork(cudaStream_t stream, GraphWork work) {
  std::lock_guard<std::mutex> guard(lock);
  OwnCapture *capture = captureOf(stream);
  if (!capture)
    return cudaErrorIllegalState;
  OwnCapture::Tail &tail = capture->streams[stream];
  tail = {capture->graph->add(std::move(work), tail)};
  return cudaSuccess;
}

Result captureRecord(cudaStream_t stream, cudaEvent_t event) {
  std::lock_guard<std::mutex> guard(lock);
  OwnCapture *capture = captureOf(stream);
  if (!capture)
    return cudaErrorIllegalState;
  capture->events[event] = capture->streams[stream];
  return cudaSuccess;
}

bool captureWait(cudaStream_t stream, cudaEvent_t event) {
  std::lock_guard<std::mutex> guard(lock);
  for (auto &capture : captures())
    if (auto it = capture->events.find(event); it != capture->events.end()) {
      addTo(capture->streams[stream], it->second);
      return true;
    }
  return false;
}

} // namespace dragon

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return begin(stream, std::make_shared<Graph>(), nullptr, {});
    return beginNvidia(front, stream, [&] {
      return DRAGON_NVIDIA(cudaStreamBeginCapture, stream, mode);
    });
  });
}

cudaError_t
cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                              const cudaGraphNode_t *dependencies,
                              const cudaGraphEdgeData *dependencyData,
                              size_t count, cudaStreamCaptureMode mode) {
  return withDevice([&](Front &front) -> Result {
    if (front.gpu)
      return beginNvidia(front, stream, [&] {
        return DRAGON_NVIDIA(cudaStreamBeginCaptureToGraph, stream, graph,
                             dependencies, dependencyData, count, mode);
      });
    std::shared_ptr<Graph> found = shareGraph(graph);
    if (!found)
      return cudaErrorInvalidValue;
    OwnCapture::Tail tail;
    DRAGON_CHECK(nodesIn(found.get(), dependencies, count, tail));
    return begin(stream, std::move(found), graph, std::move(tail));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return end(stream, graph);
    cudaError_t error = DRAGON_NVIDIA(cudaStreamEndCapture, stream, graph);
    forgetCapture(stream);
    // A stream that was not being captured has not been counted either.
    if (error != cudaErrorIllegalState && error != cudaErrorInvalidValue &&
        error != cudaErrorStreamCaptureUnmatched && activeCaptures > 0)
      --activeCaptures;
    return error;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus *status) {
  return withDevice([&](Front &front) -> Result {
    if (!status)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaStreamIsCapturing, stream, status);
    *status = isCaptured(stream) ? cudaStreamCaptureStatusActive
                                 : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edgeData,
                                     size_t *count) {
  return withDevice([&](Front &front) -> Result {
    if (!status)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaStreamGetCaptureInfo, stream, status, id, graph,
                           dependencies, edgeData, count);
    std::lock_guard<std::mutex> guard(lock);
    OwnCapture *capture = captureOf(stream);
    *status =
        capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    if (!capture)
      return cudaSuccess;
    if (graph || dependencies) {
      printErrorOnce("cudaStreamGetCaptureInfo: the graph that is being "
                     "captured cannot be had on the cpu device");
      return cudaErrorNotSupported;
    }
    if (id)
      *id = capture->id;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  Front *front;
  if (cudaError_t error = Front::enter(front))
    return leave(error);
  // Not within withDevice, which exchanges the mode and exchanges it back.
  if (front->gpu)
    return leave(DRAGON_NVIDIA(cudaThreadExchangeStreamCaptureMode, mode));
  // Nothing is unsafe during a capture here, so no mode forbids anything.
  thread_local cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
  if (!mode)
    return leave(cudaErrorInvalidValue);
  std::swap(*mode, own);
  return cudaSuccess;
}

} // extern "C"
