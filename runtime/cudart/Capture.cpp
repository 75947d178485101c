//===- Capture.cpp - streams that are being captured ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/Capture.h"

#include "runtime/cudart/Forward.h"
#include "runtime/cudart/Front.h"
#include "runtime/cudart/Module.h"

#include <cuda_runtime_api.h>

using namespace dragon;

std::atomic<int> dragon::activeCaptures{0};

namespace {

Result noGraphs() {
  printErrorOnce("stream capture: CUDA graphs are not supported on the cpu "
                 "device");
  return cudaErrorNotSupported;
}

template <typename Begin> cudaError_t beginCapture(Begin &&begin) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return noGraphs();
    DRAGON_CHECK(modules().initialise(front));
    DRAGON_CHECK(keepAllResident(front));
    cudaError_t error = begin();
    if (error == cudaSuccess)
      ++activeCaptures;
    return error;
  });
}

} // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode) {
  return beginCapture(
      [&] { return DRAGON_NVIDIA(cudaStreamBeginCapture, stream, mode); });
}

cudaError_t
cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                              const cudaGraphNode_t *dependencies,
                              const cudaGraphEdgeData *dependencyData,
                              size_t count, cudaStreamCaptureMode mode) {
  return beginCapture([&] {
    return DRAGON_NVIDIA(cudaStreamBeginCaptureToGraph, stream, graph,
                         dependencies, dependencyData, count, mode);
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return noGraphs();
    cudaError_t error = DRAGON_NVIDIA(cudaStreamEndCapture, stream, graph);
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
    *status = cudaStreamCaptureStatusNone;
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
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

} // extern "C"
