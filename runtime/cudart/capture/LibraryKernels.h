//===- LibraryKernels.h - kernels of libraries in graphs --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a stream is captured on a GPU, a library's function puts its kernels
// into a graph. What they use is known from the function's summary, and which
// kernels are the function's from the nodes that the graph has before the call
// and after it. The uses go with the kernel and its arguments, by which the
// node is found again wherever it is: in a copy of the graph, in an instance,
// in an update. Kernels of which nothing is known so may use whatever their
// arguments can be addresses of.
//
// Source: CUDA Runtime API, cudaStreamGetCaptureInfo; CUDA Driver API,
// cuGraphKernelNodeGetParams (the runtime's refuses kernels that are not its
// own), cuFuncGetParamInfo.
//
// Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_CAPTURE_LIBRARYKERNELS_H
#define DRAGON_RUNTIME_CUDART_CAPTURE_LIBRARYKERNELS_H

#include "runtime/cudart/front/Front.h"
#include "runtime/device/cuda/CudaDriver.h"

#include <cstdint>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace dragon {

struct LibraryKernel {
  const CudaDriver *driver = nullptr;
  CUDA_KERNEL_NODE_PARAMS params{};
  std::string name;             ///< empty: not known
  std::vector<uintptr_t> words; ///< of the arguments; some may be addresses
};
/// cudaErrorNotSupported: the driver does not say.
Result readLibraryKernel(cudaGraphNode_t node, LibraryKernel &kernel);

/// A stream that NVIDIA's runtime captures, from now on and no more.
void noteCapture(cudaStream_t stream);
void forgetCapture(cudaStream_t stream);

/// A call that has a summary, while streams are captured.
struct CapturedCall {
  LibraryCall call;
  std::unordered_set<cudaGraphNode_t> before; ///< the call
  uint64_t number = 0;
  bool alone = true; ///< no other call of a library was under way
};
std::unique_ptr<CapturedCall> beginCapturedCall(LibraryCall call);
/// What the graphs have got since is the call's. Nothing is noted if another
/// thread has been in a library meanwhile.
void endCapturedCall(std::unique_ptr<CapturedCall> captured);
/// A library without a summary is called: see above.
void noteUnknownCapture();

/// What the kernel's call uses; null: not known.
std::shared_ptr<const LibraryCall> capturedUses(const LibraryKernel &kernel);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_CAPTURE_LIBRARYKERNELS_H
