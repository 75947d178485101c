//===- ThreadedIo.cpp - pread and pwrite on several threads ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where io_uring is refused (many containers do), and for what the page cache
// has: a few threads take segments from the batch. They are started with the
// first batch and sleep between batches.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ThreadPool.h"
#include "runtime/tier/Transfer.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace dragon {

namespace {

constexpr unsigned NumThreads = 8;

class ThreadedIo final : public IoEngine {
public:
  ~ThreadedIo() override;
  Status drive(Transfer &transfer) override;

private:
  void work();
  void start();

  std::mutex Lock;
  std::condition_variable MoreWork;
  std::condition_variable Progress;
  std::vector<Transfer *> Batches;
  std::vector<std::thread> Threads;
  bool Stopping = false;
};

ThreadedIo::~ThreadedIo() {
  {
    std::lock_guard guard(Lock);
    Stopping = true;
  }
  MoreWork.notify_all();
  for (std::thread &thread : Threads)
    thread.join();
}

void ThreadedIo::start() {
  if (!Threads.empty())
    return;
  for (unsigned i = 0; i < NumThreads; ++i) {
    try {
      Threads.push_back(startThread([this] { work(); }));
    } catch (const std::system_error &) {
      break; // fewer threads; with none, the caller does it all
    }
  }
}

void ThreadedIo::work() {
  std::unique_lock lock(Lock);
  while (true) {
    TransferPart *segment = nullptr;
    Transfer *owner = nullptr;
    for (Transfer *batch : Batches)
      if ((segment = batch->next())) {
        owner = batch;
        break;
      }
    if (!segment) {
      if (Stopping)
        return;
      MoreWork.wait(lock);
      continue;
    }
    lock.unlock();
    long result = perform(*segment);
    lock.lock();
    owner->completed(segment, result);
    if (owner->finished())
      Progress.notify_all();
    else
      MoreWork.notify_one(); // completed() may have queued the rest
  }
}

Status ThreadedIo::drive(Transfer &transfer) {
  std::unique_lock lock(Lock);
  start();
  Batches.push_back(&transfer);
  MoreWork.notify_all();
  // The caller works as well.
  while (!transfer.finished()) {
    TransferPart *segment = transfer.next();
    if (!segment) {
      if (!transfer.finished())
        Progress.wait(lock);
      continue;
    }
    lock.unlock();
    long result = perform(*segment);
    lock.lock();
    transfer.completed(segment, result);
  }
  Batches.erase(std::find(Batches.begin(), Batches.end(), &transfer));
  return {};
}

} // namespace

long perform(const TransferPart &segment) {
  ssize_t n = segment.write ? ::pwrite(segment.fd, segment.memory,
                                       segment.bytes, off_t(segment.offset))
                            : ::pread(segment.fd, segment.memory, segment.bytes,
                                      off_t(segment.offset));
  return n < 0 ? -long(errno) : long(n);
}

std::unique_ptr<IoEngine> createThreadedIo() {
  return std::make_unique<ThreadedIo>();
}

} // namespace dragon
