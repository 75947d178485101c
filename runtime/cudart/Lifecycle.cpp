//===- Lifecycle.cpp - fork, exit and reset -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/Lifecycle.h"

#include "runtime/cudart/Front.h"
#include "runtime/cudart/Staging.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace dragon {

namespace {
std::atomic<bool> hasDevice{false};
std::atomic<bool> forked{false};
std::atomic<bool> closed{false};
std::atomic<pid_t> endingThread{0};

// staging() is locked over a fork, so that the child's copy is consistent: what
// was read from files and deferred can still be read there.
void beforeFork() { staging().lockForFork(); }
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
  if (!front || !front->gpu || forked.load())
    return;
  report(staging().processEnds());
  report(front->runtime.quiesce(/*last=*/true));
  closed = true;
}

[[gnu::destructor]] void endOfProcess() {
  Front *front = Front::existing();
  if (!front || forked.load())
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

bool inForkedChild() { return forked.load(std::memory_order_relaxed); }

bool refusedAtExit() {
  if (closed.load(std::memory_order_relaxed))
    return true;
  pid_t ending = endingThread.load(std::memory_order_relaxed);
  return ending != 0 && ending != ::gettid();
}

void armLifecycle() {
  hasDevice = true;
  std::atexit(endOfDevice);
}

} // namespace dragon
