//===- Capture.h - streams that are being captured --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program issues between cudaStreamBeginCapture and EndCapture becomes a
// graph and runs later, any number of times. On a GPU it is a graph of
// NVIDIA's: when a capture begins, every buffer comes to the device and stays
// there, and until all captures have ended launches, copies and events go to
// libcudart as they are. On the cpu device, work in a stream that is being
// captured becomes nodes of our own graph (Graph.h):
//
//   if (capturing()) {
//     if (front.gpu) return DRAGON_NVIDIA(...);
//     if (isCaptured(stream)) return captureWork(stream, ...);
//   }
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_CAPTURE_CAPTURE_H
#define DRAGON_RUNTIME_CUDART_CAPTURE_CAPTURE_H

#include "runtime/cudart/capture/Graph.h"

#include <atomic>

namespace dragon {

extern std::atomic<int> activeCaptures;

inline bool capturing() {
  return activeCaptures.load(std::memory_order_relaxed) != 0;
}

/// The cpu device: work in this stream becomes part of a graph.
bool isCaptured(cudaStream_t stream);
/// On a GPU the capture is NVIDIA's: what the graph is to allocate and free, it
/// has to hear of.
bool isCapturedByNvidia(Front &front, cudaStream_t stream);
/// Adds it behind what the stream has captured before.
Result captureWork(cudaStream_t stream, GraphWork work);
/// The event stands for what the stream has captured so far.
Result captureRecord(cudaStream_t stream, cudaEvent_t event);
/// True if the event stands for captured work: what the stream captures from
/// now on, even if it was not being captured before, is behind that.
bool captureWait(cudaStream_t stream, cudaEvent_t event);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_CAPTURE_CAPTURE_H
