//===- ProcessState.cpp - whether this process has its device -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/ProcessState.h"

#include <atomic>
#include <cstdint>
#include <new>
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

void processHasDevice() {
  markProcess();
  hasDevice = true;
}

void processIsChild() {
  if (hasDevice.load())
    forked.store(true);
}

void refuseAllCalls() { closed = true; }

void refuseOtherThreads() { endingThread = ::gettid(); }

} // namespace dragon
