//===- Front.cpp - what every API call begins with ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"

#include "runtime/cudart/front/ProcessState.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <mutex>

namespace dragon {

namespace {
std::atomic<Front *> current{nullptr};
std::atomic<int> failure{cudaSuccess};
std::atomic<bool> malformed{false}; ///< a setting, which is said already
std::atomic<bool> ending{false};

cudaError_t create(Front *&front) {
  static std::mutex lock;
  std::lock_guard<std::mutex> guard(lock);
  front = current.load(std::memory_order_acquire);
  if (front)
    return cudaSuccess;
  if (int failed = failure)
    return cudaError_t(failed);
  try {
    auto runtime = Runtime::get();
    if (!runtime.ok()) {
      Status status = runtime.takeStatus();
      cudaError_t error = report(status);
      malformed = status.code() == DRAGON_ERROR_SETTING;
      failure = error;
      return error;
    }
    Device &device = (*runtime)->device();
    bool gpu = std::strcmp(device.caps().name, "cpu") != 0;
    front = new Front{**runtime, device, gpu}; // lives as long as the process
    startProcess(*front);
    current.store(front, std::memory_order_release);
    return cudaSuccess;
  } catch (const std::bad_alloc &) {
    return cudaErrorMemoryAllocation;
  }
}
/// A program that ignores errors would go on with results of no kernel: where
/// the user's own words cannot be understood, it ends. Its buffered output is
/// written; what its exit handlers ask of us fails.
cudaError_t createOrEnd(Front *&front) {
  cudaError_t error = create(front);
  if (error != cudaSuccess && malformed && !ending.exchange(true))
    std::exit(EXIT_FAILURE);
  return error;
}
} // namespace

Front *Front::existing() { return current.load(std::memory_order_acquire); }

cudaError_t Front::enterAnyway(Front *&front) {
  if (inForkedChild())
    return cudaErrorInitializationError;
  if (refusedAtExit())
    return cudaErrorCudartUnloading;
  front = current.load(std::memory_order_acquire);
  return front ? cudaSuccess : createOrEnd(front);
}

cudaError_t Front::enterInPassing(Front *&front) {
  if (cudaError_t error = stickyError())
    return error;
  return enterAnyway(front);
}

cudaError_t Front::enter(Front *&front) {
  if (cudaError_t error = enterInPassing(front))
    return error;
  return reportOfLaunch(front->runtime.launches().runWaiting());
}

Queue Front::queue(cudaStream_t stream) const {
  if (stream == cudaStreamLegacy)
    return nullptr;
  // Every call of the cpu device returns when its work is done, so its default
  // queue serves as each thread's own as well.
  if (stream == cudaStreamPerThread && !gpu)
    return nullptr;
  return stream;
}

} // namespace dragon
