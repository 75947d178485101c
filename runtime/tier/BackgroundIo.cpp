//===- BackgroundIo.cpp - file requests on threads of their own -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/BackgroundIo.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace dragon {

class BackgroundIo::Job {
public:
  std::vector<FileRequest> requests;
  Status status;
  bool done = false;
};

namespace {
/// Enough to keep a fast disk busy.
constexpr uint64_t RunningBytes = 32 << 20;
constexpr uint64_t MaxThreads = 8;
} // namespace

BackgroundIo::BackgroundIo(FileTier &files, uint64_t jobBytes)
    : Files(files), Width(unsigned(std::clamp(RunningBytes / jobBytes + 1,
                                              uint64_t(2), MaxThreads))) {}

BackgroundIo::~BackgroundIo() {
  {
    std::lock_guard<std::mutex> guard(Lock);
    Stopping = true;
  }
  Wake.notify_all();
  for (std::thread &thread : Threads)
    thread.join();
}

std::shared_ptr<BackgroundIo::Job>
BackgroundIo::start(std::vector<FileRequest> requests) {
  auto job = std::make_shared<Job>();
  job->requests = std::move(requests);
  std::lock_guard<std::mutex> guard(Lock);
  if (job->requests.empty()) {
    job->done = true;
    return job;
  }
  Waiting.push_back(job);
  if (Waiting.size() > Idle && Threads.size() < Width) {
    try {
      Threads.push_back(startThread([this] { work(); }));
    } catch (const std::system_error &error) {
      // The job is among those that wait all the same. A thread that there is
      // takes it from there, or wait(), which its owner will call.
      log(LogLevel::Debug, "no thread more for files: {}", error.what());
    }
  }
  Wake.notify_one();
  return job;
}

void BackgroundIo::run(std::unique_lock<std::mutex> &guard, Job &job) {
  if (Running++ == 0)
    BusySince = traceClock();
  guard.unlock();
  Status status = Files.run(job.requests);
  guard.lock();
  if (--Running == 0)
    BusyTime += traceClock() - BusySince;
  job.status = std::move(status);
  job.done = true;
  Done.notify_all();
}

void BackgroundIo::work() {
  std::unique_lock<std::mutex> guard(Lock);
  while (true) {
    ++Idle;
    Wake.wait(guard, [this] { return Stopping || !Waiting.empty(); });
    --Idle;
    if (Waiting.empty())
      return;
    std::shared_ptr<Job> job = std::move(Waiting.front());
    Waiting.pop_front();
    run(guard, *job);
  }
}

bool BackgroundIo::done(const Job &job) {
  std::lock_guard<std::mutex> guard(Lock);
  return job.done;
}

bool BackgroundIo::takeFromWaiting(const Job &job) {
  return std::erase_if(
      Waiting, [&job](const auto &other) { return other.get() == &job; });
}

Status BackgroundIo::wait(Job &job) {
  std::unique_lock<std::mutex> guard(Lock);
  if (takeFromWaiting(job))
    run(guard, job);
  Done.wait(guard, [&job] { return job.done; });
  return std::move(job.status);
}

void BackgroundIo::callOff(Job &job) {
  std::unique_lock<std::mutex> guard(Lock);
  if (takeFromWaiting(job))
    return;
  Done.wait(guard, [&job] { return job.done; });
  job.status.ignore();
}

uint64_t BackgroundIo::takeBusyTime() {
  std::lock_guard<std::mutex> guard(Lock);
  if (Running) {
    const uint64_t now = traceClock();
    BusyTime += now - BusySince;
    BusySince = now;
  }
  return std::exchange(BusyTime, 0);
}

} // namespace dragon
