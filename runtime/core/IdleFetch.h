//===- IdleFetch.h - fetches while the program is busy ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What launches to come will read is fetched by launches (FetchAhead.h), a part
// of the device's memory at a time. Between two launches the program may wait
// for the device, or compute by itself: the link has nothing to do as soon as
// that part has come. A thread goes on with it then, chunk by chunk.
//
// It does so only while the program makes no launches, and takes the lock only
// where nobody has it: a call waits for one chunk at most.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_IDLEFETCH_H
#define DRAGON_RUNTIME_CORE_IDLEFETCH_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace dragon {

class IdleFetch {
public:
  /// So often the program has been seen in a call.
  using Calls = std::function<uint64_t()>;
  /// FetchAhead::step(), with the runtime's lock; false: somebody has it.
  using Step = std::function<bool(bool &more)>;

  IdleFetch(Calls calls, Step step)
      : SeenCalls(std::move(calls)), Do(std::move(step)) {}
  ~IdleFetch() { stop(); }
  IdleFetch(const IdleFetch &) = delete;
  IdleFetch &operator=(const IdleFetch &) = delete;

  /// Copies are on their way: when they have come, there may be others to make.
  /// From any thread; the first one starts the thread.
  void goOn();
  /// Waits for the thread. Without the runtime's lock; as often as one likes.
  void stop();

private:
  void run();
  /// Until there is nothing more to fetch.
  void fetch();

  const Calls SeenCalls;
  const Step Do;
  std::atomic<bool> Active = false, Stopping = false;
  std::mutex Lock;
  std::condition_variable Changed;
  bool Started = false; ///< it has been tried
  std::thread Thread;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_IDLEFETCH_H
