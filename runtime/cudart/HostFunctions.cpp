//===- HostFunctions.cpp - callbacks in a stream's order ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/HostFunctions.h"

#include "runtime/cudart/Capture.h"
#include "runtime/cudart/Forward.h"

#include <atomic>
#include <condition_variable>
#include <cuda_runtime_api.h>
#include <deque>
#include <mutex>
#include <thread>

using namespace dragon;

namespace dragon {

namespace {

struct Waiting {
  cudaStream_t stream;
  std::function<void()> function;
};

/// One thread runs the functions of all streams in the order in which they were
/// added, so what a stream waits for is always earlier in the list.
class Runner {
public:
  void add(cudaStream_t stream, std::function<void()> function) {
    std::lock_guard<std::mutex> guard(Lock);
    List.push_back({stream, std::move(function)});
    ++Count;
    if (!Started) {
      Started = true;
      std::thread([this] { work(); }).detach();
    }
    Changed.notify_all();
  }

  bool done(cudaStream_t stream, bool all) {
    if (Count.load(std::memory_order_acquire) == 0 || onOwnThread)
      return true;
    std::lock_guard<std::mutex> guard(Lock);
    return doneLocked(stream, all);
  }

  void wait(cudaStream_t stream, bool all) {
    if (Count.load(std::memory_order_acquire) == 0 || onOwnThread)
      return;
    std::unique_lock<std::mutex> guard(Lock);
    Changed.wait(guard, [&] { return doneLocked(stream, all); });
  }

private:
  bool doneLocked(cudaStream_t stream, bool all) const {
    for (const Waiting &entry : List)
      if (all || entry.stream == stream)
        return false;
    return true;
  }

  void work() {
    onOwnThread = true;
    std::unique_lock<std::mutex> guard(Lock);
    for (;;) {
      Changed.wait(guard, [&] { return !List.empty(); });
      // Stays in the list while it runs: others wait for it.
      std::function<void()> function = std::move(List.front().function);
      guard.unlock();
      function();
      function = nullptr;
      guard.lock();
      List.pop_front();
      --Count;
      Changed.notify_all();
    }
  }

  std::mutex Lock;
  std::condition_variable Changed;
  std::deque<Waiting> List;
  std::atomic<size_t> Count{0};
  bool Started = false;
  static thread_local bool onOwnThread;
};
thread_local bool Runner::onOwnThread = false;

Runner &runner() {
  static Runner *instance = new Runner; // its thread outlives static objects
  return *instance;
}

bool isDefault(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy;
}

} // namespace

void addHostFunction(cudaStream_t stream, std::function<void()> function) {
  runner().add(isDefault(stream) ? nullptr : stream, std::move(function));
}

void waitForHostFunctions(Front &front, cudaStream_t stream) {
  if (!front.gpu)
    runner().wait(stream, isDefault(stream));
}

void waitForAllHostFunctions(Front &front) {
  if (!front.gpu)
    runner().wait(nullptr, true);
}

bool hostFunctionsDone(Front &front, cudaStream_t stream) {
  return front.gpu || runner().done(stream, isDefault(stream));
}

} // namespace dragon

extern "C" {

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void *data) {
  return withDevice([&](Front &front) -> Result {
    if (!function)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaLaunchHostFunc, stream, function, data);
    if (capturing() && isCaptured(stream))
      return captureWork(stream, HostWork{{function, data}});
    addHostFunction(stream, [function, data] { function(data); });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (!callback || flags)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaStreamAddCallback, stream, callback, data,
                           flags);
    addHostFunction(stream, [=] { callback(stream, stickyError(), data); });
    return cudaSuccess;
  });
}

} // extern "C"
