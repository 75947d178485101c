//===- Lifecycle.cpp - fork, exit and reset -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/Lifecycle.h"

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/staging/StagingBuffers.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dragon {

namespace {
std::atomic<bool> hasDevice{false};
std::atomic<bool> forked{false};
std::atomic<bool> closed{false};
std::atomic<pid_t> endingThread{0};

// A word that is zero in each copy of the process, whatever made it: handlers
// of fork hear neither of clone() nor of _Fork().
std::atomic<uint32_t> *parentsMark = nullptr;

void markProcess() {
  void *page = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return;
  if (::madvise(page, 1, MADV_WIPEONFORK) != 0) { // before Linux 4.14
    ::munmap(page, 1);
    return;
  }
  parentsMark = new (page) std::atomic<uint32_t>(1);
}

void beforeFork() {
  // fork() itself was refused where that fails; what calls it inside of the C
  // library (daemon, forkpty) cannot be.
  if (Status status = staging().saveInputs(); !status.ok())
    report(status);
  staging().bringResults();
  staging().lockForFork();
}
void afterForkInParent() { staging().unlockInParent(); }
void afterForkInChild() {
  staging().unlockInChild();
  if (hasDevice.load())
    forked.store(true);
}

[[gnu::constructor]] void watchForks() {
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
}

/// The driver still answers here, for the last time.
void endOfDevice() {
  Front *front = Front::existing();
  if (!front || !front->gpu || inForkedChild())
    return;
  report(staging().processEnds());
  report(front->runtime.quiesce(/*last=*/true));
  closed = true;
}

[[gnu::destructor]] void endOfProcess() {
  Front *front = Front::existing();
  if (!front || inForkedChild())
    return;
  endingThread = ::gettid();
  report(front->runtime.shutdown());
  // What the program has printed is not written yet.
  if (const int status = front->runtime.verdict()) {
    std::fflush(nullptr);
    ::_exit(status);
  }
}
} // namespace

bool inForkedChild() {
  return forked.load(std::memory_order_relaxed) ||
         (hasDevice.load(std::memory_order_relaxed) && parentsMark &&
          parentsMark->load(std::memory_order_relaxed) == 0);
}

bool refusedAtExit() {
  if (closed.load(std::memory_order_relaxed))
    return true;
  pid_t ending = endingThread.load(std::memory_order_relaxed);
  return ending != 0 && ending != ::gettid();
}

void armLifecycle() {
  markProcess();
  hasDevice = true;
  std::atexit(endOfDevice);
}

} // namespace dragon
