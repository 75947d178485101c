//===- Capture.h - streams that are being captured --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program issues between cudaStreamBeginCapture and EndCapture becomes a
// graph and runs later, any number of times. On a GPU it is a graph of
// NVIDIA's: what is issued into a stream that is being captured goes to
// libcudart as it is, and nothing has to be on the device but what copies and
// fills name, which the driver looks at. What the graph works on comes to the
// device when it is launched (graphs/NvidiaGraph.h). On the cpu device, work in
// a stream that is being captured becomes nodes of our own graph (Graph.h):
//
//   if (isCapturedByNvidia(front, stream)) return DRAGON_NVIDIA(...);
//   if (capturing() && isCaptured(stream)) return captureWork(stream, ...);
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_CAPTURE_CAPTURE_H
#define DRAGON_RUNTIME_CUDART_CAPTURE_CAPTURE_H

#include "runtime/cudart/capture/Graph.h"
#include "runtime/cudart/front/RelaxedCapture.h"

#include <functional>
#include <initializer_list>

namespace dragon {

inline bool capturing() {
  return activeCaptures.load(std::memory_order_relaxed) != 0;
}

/// The cpu device: work in this stream becomes part of a graph.
bool isCaptured(cudaStream_t stream);
/// On a GPU the capture is NVIDIA's: work in this stream is for it to take or
/// to refuse.
bool isCapturedByNvidia(Front &front, cudaStream_t stream);

/// Memory that a call of NVIDIA's looks at; not of buffers: of no interest.
struct MemoryPart {
  const void *memory;
  size_t bytes;
};
/// Makes a call that puts a copy or a fill into a graph of NVIDIA's: the driver
/// refuses addresses behind which there is nothing.
Result whileThere(Front &front, std::initializer_list<MemoryPart> parts,
                  const std::function<cudaError_t()> &call);

/// Adds it behind what the stream has captured before.
Result captureWork(cudaStream_t stream, GraphWork work);
/// The event stands for what the stream has captured so far.
Result captureRecord(cudaStream_t stream, cudaEvent_t event);
/// True if the event stands for captured work: what the stream captures from
/// now on, even if it was not being captured before, is behind that.
bool captureWait(cudaStream_t stream, cudaEvent_t event);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_CAPTURE_CAPTURE_H
