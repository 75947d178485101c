//===- BackgroundIo.h - file requests on threads of their own ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests that run while their owner does something else. Jobs begin in the
// order in which they were started, a few at a time: while the last segments of
// one come back the next is under way already, so the disk never idles, and the
// first one is not done last because all share the disk. Who waits for a job
// that has not begun does it himself: without threads everything still works.
//
// Thread-safe. A job's memory and files are its owner's until wait() returns.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_BACKGROUNDIO_H
#define DRAGON_RUNTIME_TIER_BACKGROUNDIO_H

#include "runtime/tier/FileTier.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dragon {

class BackgroundIo {
public:
  class Job;
  /// `jobBytes`: what a job usually reads or writes.
  BackgroundIo(FileTier &files, uint64_t jobBytes);
  /// Jobs that were started must have been waited for.
  ~BackgroundIo();
  BackgroundIo(const BackgroundIo &) = delete;
  BackgroundIo &operator=(const BackgroundIo &) = delete;

  std::shared_ptr<Job> start(std::vector<FileRequest> requests);
  bool done(const Job &job);
  /// Once for each job: the first failure of its requests.
  Status wait(Job &job);
  /// Instead: nobody cares whether its requests run. Waits if they have begun.
  void callOff(Job &job);
  /// The time in which at least one job was running, since the last call.
  uint64_t takeBusyTime();

private:
  void work();
  void run(std::unique_lock<std::mutex> &guard, Job &job);
  /// True if nobody has begun it; whoever asks has it then. Under the lock.
  bool takeFromWaiting(const Job &job);

  FileTier &Files;
  const unsigned Width; ///< at most so many jobs run at a time
  std::mutex Lock;
  std::condition_variable Wake; ///< there is a job, or an end
  std::condition_variable Done; ///< a job is done
  std::deque<std::shared_ptr<Job>> Waiting;
  std::vector<std::thread> Threads;
  unsigned Idle = 0;
  unsigned Running = 0;
  uint64_t BusySince = 0;
  uint64_t BusyTime = 0;
  bool Stopping = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_BACKGROUNDIO_H
