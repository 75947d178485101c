//===- IdleFetch.cpp - fetches while the program is busy ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/IdleFetch.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/trace/Log.h"

#include <chrono>
#include <system_error>

namespace dragon {

namespace {
/// A program that has made no launch for so long is busy with something else.
constexpr std::chrono::microseconds BetweenLooks(100);
/// So many looks that find nothing to do are the last.
constexpr unsigned LastLooks = 32;
} // namespace

void IdleFetch::goOn() {
  if (Active.exchange(true, std::memory_order_relaxed))
    return;
  const std::lock_guard guard(Lock);
  if (!Started && !Stopping) {
    Started = true;
    try {
      Thread = startThread([this] { run(); });
    } catch (const std::system_error &error) {
      log(LogLevel::Info, "no thread that fetches between calls: {}",
          error.what());
    }
  }
  Changed.notify_one();
}

void IdleFetch::stop() {
  std::thread ending;
  {
    const std::lock_guard guard(Lock);
    Stopping = true;
    ending = std::move(Thread);
  }
  Changed.notify_one();
  if (ending.joinable())
    ending.join();
}

void IdleFetch::run() {
  std::unique_lock guard(Lock);
  while (true) {
    Changed.wait(guard, [this] { return Active || Stopping; });
    if (Stopping)
      return;
    guard.unlock();
    fetch();
    Active = false;
    guard.lock();
  }
}

void IdleFetch::fetch() {
  uint64_t calls = SeenCalls();
  for (unsigned nothing = 0; nothing < LastLooks && !Stopping;) {
    std::this_thread::sleep_for(BetweenLooks);
    if (const uint64_t now = SeenCalls(); now != calls) {
      calls = now;
      nothing = 0;
      continue;
    }
    bool more = false;
    if (Do(more))
      nothing = more ? 0 : nothing + 1;
  }
}

} // namespace dragon
