//===- ThreadPool.h - several threads for one piece of work -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one function on several threads at once; the function shares out the
// work itself. The caller takes part, so a pool of one starts no thread.
// Several callers at a time are served side by side. Threads are started when
// first needed and take no signals but the synchronous ones.
//
// The process has one pool for its own memory (hostThreads: touching new pages,
// copying); the cpu device has one that runs kernels, as wide as it was told.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_THREADPOOL_H
#define DRAGON_RUNTIME_BASE_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dragon {

class ThreadPool {
public:
  /// 0 = as many as this process may use.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();

  /// Calls `body` on the calling thread and on up to width - 1 others that are
  /// free; returns when all of them have returned.
  void run(uint64_t width, const std::function<void()> &body);
  /// body(0) to body(count - 1), each once, on up to `width` threads like that.
  template <typename Body>
  void forEach(size_t count, uint64_t width, Body &&body) {
    std::atomic<size_t> next{0};
    run(width, [&] {
      for (size_t i; (i = next.fetch_add(1)) < count;)
        body(i);
    });
  }
  /// How many calls of a body there can be at a time.
  unsigned threads() const { return Threads; }

private:
  struct Job {
    const std::function<void()> *body;
    uint64_t wanted;      // threads that may still join
    unsigned running = 0; // threads other than the caller in it
    std::condition_variable done;
  };
  void start();
  void work();

  std::atomic<unsigned> Threads;
  std::mutex Lock;
  std::condition_variable Wake;
  std::deque<Job *> Jobs;
  std::vector<std::thread> Workers;
  bool Stopping = false;
};

/// A thread that takes no signals but the synchronous ones: those of the
/// program are for its own threads. Throws std::system_error.
std::thread startThread(std::function<void()> body);

/// The process's, as wide as memory needs it; never destroyed. In a forked
/// child the caller works alone.
ThreadPool &hostThreads();

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_THREADPOOL_H
