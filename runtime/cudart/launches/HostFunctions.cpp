//===- HostFunctions.cpp - callbacks in a stream's order ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/launches/HostFunctions.h"

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/front/Forward.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cuda_runtime_api.h>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_set>

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

  /// Whether those of the streams that `in` accepts are.
  template <typename Streams> bool done(Streams in) {
    if (Count.load(std::memory_order_acquire) == 0 || onOwnThread)
      return true;
    std::lock_guard<std::mutex> guard(Lock);
    return doneLocked(in);
  }

  template <typename Streams> void wait(Streams in) {
    if (Count.load(std::memory_order_acquire) == 0 || onOwnThread)
      return;
    std::unique_lock<std::mutex> guard(Lock);
    Changed.wait(guard, [&] { return doneLocked(in); });
  }

  void setBlocking(cudaStream_t stream, bool blocking) {
    std::lock_guard<std::mutex> guard(Lock);
    if (blocking)
      NonBlocking.erase(stream);
    else
      NonBlocking.insert(stream);
  }
  bool isBlocking(cudaStream_t stream) {
    std::lock_guard<std::mutex> guard(Lock);
    return NonBlocking.count(stream) == 0;
  }

private:
  template <typename Streams> bool doneLocked(Streams in) const {
    return std::none_of(List.begin(), List.end(),
                        [&](const Waiting &entry) { return in(entry.stream); });
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
  std::unordered_set<cudaStream_t> NonBlocking;
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

/// Streams whose functions a synchronisation of this one waits for.
auto inStream(cudaStream_t stream) {
  return [stream, all = isDefault(stream)](cudaStream_t other) {
    return all || other == stream;
  };
}

/// Streams whose functions come before the next work in this one.
auto inFrontOf(cudaStream_t stream) {
  return [own = inStream(stream),
          blocking = runner().isBlocking(stream)](cudaStream_t other) {
    return own(other) || (blocking && isDefault(other));
  };
}

/// NVIDIA's runtime runs the functions on a GPU; how many are still to come is
/// counted. One that may run again and again, in a graph, is never done.
std::atomic<size_t> outstanding{0};

struct Counted {
  cudaHostFn_t function;
  cudaStreamCallback_t callback;
  void *data;
};

void end(const Counted *counted) {
  delete counted;
  outstanding.fetch_sub(1, std::memory_order_release);
}

void runFunction(void *memory) {
  const auto *counted = static_cast<Counted *>(memory);
  counted->function(counted->data);
  end(counted);
}

void runCallback(cudaStream_t stream, cudaError_t status, void *memory) {
  const auto *counted = static_cast<Counted *>(memory);
  counted->callback(stream, status, counted->data);
  end(counted);
}

/// `launch(counted)` gives it to NVIDIA's runtime.
template <typename Launch>
cudaError_t launchCounted(const Counted &what, Launch launch) {
  auto *counted = new Counted(what);
  outstanding.fetch_add(1, std::memory_order_relaxed);
  const cudaError_t error = launch(counted);
  if (error)
    end(counted);
  return error;
}

} // namespace

void noteHostWorkInGraph() {
  outstanding.fetch_add(1, std::memory_order_relaxed);
}

Status waitForHostWork(Front &front, cudaStream_t stream) {
  if (front.gpu)
    return outstanding.load(std::memory_order_acquire)
               ? front.device.synchronize(front.queue(stream))
               : Status();
  waitForHostFunctions(front, stream);
  return {};
}

Status synchronizeStream(Front &front, cudaStream_t stream) {
  waitForOwnHostFunctions(front, stream);
  return front.device.synchronize(front.queue(stream));
}

void addHostFunction(cudaStream_t stream, std::function<void()> function) {
  runner().add(isDefault(stream) ? nullptr : stream, std::move(function));
}

void waitForHostFunctions(Front &front, cudaStream_t stream) {
  if (!front.gpu)
    runner().wait(inFrontOf(stream));
}

void noteStream(cudaStream_t stream, bool blocking) {
  runner().setBlocking(stream, blocking);
}

void waitForOwnHostFunctions(Front &front, cudaStream_t stream) {
  if (!front.gpu)
    runner().wait(inStream(stream));
}

void waitForAllHostFunctions(Front &front) {
  if (!front.gpu)
    runner().wait([](cudaStream_t) { return true; });
}

bool hostFunctionsDone(Front &front, cudaStream_t stream) {
  return front.gpu || runner().done(inStream(stream));
}

} // namespace dragon

extern "C" {

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void *data) {
  return withDevice([&](Front &front) -> Result {
    if (!function)
      return cudaErrorInvalidValue;
    if (isCapturedByNvidia(front, stream)) {
      noteHostWorkInGraph();
      return DRAGON_NVIDIA(cudaLaunchHostFunc, stream, function, data);
    }
    if (front.gpu)
      return launchCounted({function, nullptr, data}, [&](Counted *counted) {
        return DRAGON_NVIDIA(cudaLaunchHostFunc, stream, runFunction,
                             static_cast<void *>(counted));
      });
    if (capturing() && !front.gpu && isCaptured(stream))
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
      return launchCounted({nullptr, callback, data}, [&](Counted *counted) {
        return DRAGON_NVIDIA(cudaStreamAddCallback, stream, runCallback,
                             static_cast<void *>(counted), flags);
      });
    addHostFunction(stream, [=] { callback(stream, stickyError(), data); });
    return cudaSuccess;
  });
}

} // extern "C"
