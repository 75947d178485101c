//===- ThreadPool.cpp - several threads for one piece of work -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <csignal>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace dragon {

namespace {
// Copies of eight threads take what memory gives: 70 GB/s on a server where one
// thread copies 13 GB/s.
constexpr unsigned MaxHostThreads = 8;

unsigned allowedProcessors() {
  cpu_set_t allowed;
  unsigned count = sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                       ? static_cast<unsigned>(CPU_COUNT(&allowed))
                       : std::thread::hardware_concurrency();
  return std::max(count, 1u);
}
} // namespace

ThreadPool &hostThreads() {
  static auto *pool =
      new ThreadPool(std::min(allowedProcessors(), MaxHostThreads));
  return *pool;
}

ThreadPool::ThreadPool(unsigned threads)
    : Threads(threads ? threads : allowedProcessors()) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> guard(Lock);
    Stopping = true;
  }
  Wake.notify_all();
  for (std::thread &worker : Workers)
    worker.join();
}

std::thread startThread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  // Signals of the thread's own faults alone stay; abort() unblocks its own.
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    sigdelset(&all, signal);
  // A new thread has its maker's mask. The system's own call: what stands for
  // SIGSEGV in masks (device/ProgramSignals.h) is blocked, it is not.
  auto set = [](const sigset_t &mask, sigset_t *old) {
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, old, sizeof(long));
  };
  set(all, &before);
  struct Restore {
    decltype(set) &setMask;
    const sigset_t &mask;
    ~Restore() { setMask(mask, nullptr); }
  } restore{set, before};
  return std::thread(std::move(body));
}

void ThreadPool::start() {
  try {
    while (Workers.size() + 1 < Threads)
      Workers.push_back(startThread([this] { work(); }));
  } catch (const std::system_error &) {
    // The system refuses more threads: those that are there do the work.
    Threads = static_cast<unsigned>(Workers.size()) + 1;
  }
}

void ThreadPool::work() {
  std::unique_lock<std::mutex> guard(Lock);
  while (true) {
    Wake.wait(guard, [this] { return Stopping || !Jobs.empty(); });
    if (Stopping)
      return;
    Job *job = Jobs.front();
    if (--job->wanted == 0)
      Jobs.pop_front();
    ++job->running;
    guard.unlock();
    (*job->body)();
    guard.lock();
    if (--job->running == 0)
      job->done.notify_all();
  }
}

void ThreadPool::run(uint64_t width, const std::function<void()> &body) {
  Job job;
  job.body = &body;
  uint64_t helpers = 0;
  {
    std::lock_guard<std::mutex> guard(Lock);
    if (width > 1 && Workers.size() + 1 < Threads)
      start();
    helpers = job.wanted =
        std::min<uint64_t>(width ? width - 1 : 0, Workers.size());
    if (job.wanted)
      Jobs.push_back(&job);
  }
  if (helpers == 1)
    Wake.notify_one();
  else if (helpers > 1)
    Wake.notify_all();
  body();
  std::unique_lock<std::mutex> guard(Lock);
  Jobs.erase(std::remove(Jobs.begin(), Jobs.end(), &job), Jobs.end());
  job.done.wait(guard, [&job] { return job.running == 0; });
}

} // namespace dragon
