//===- Waits.cpp - a program that waits for messages lends its memory -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/mpi/Waits.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/trace/Log.h"

#include <chrono>
#include <system_error>

namespace dragon::mpi {

namespace {

/// A wait that lasts so long lends. A GiB takes several times as long to leave
/// a device and to come back.
constexpr std::chrono::milliseconds Lasts(10);

/// The process's; null: its device is not shared. Never destroyed.
Waits *waitsOf(Front &front) {
  static Waits *const waits = [&]() -> Waits * {
    if (!front.runtime.isShared())
      return nullptr;
    try {
      return new Waits([runtime = &front.runtime](const char *call) {
        log(LogLevel::Info,
            "{} waits: other programs come first for the "
            "device's memory",
            call);
        runtime->yield();
      });
    } catch (const std::system_error &) {
      return nullptr; // a second without work does the same
    }
  }();
  return waits;
}

} // namespace

Waits::Waits(std::function<void(const char *call)> lend)
    : Lend(std::move(lend)), Watcher(startThread([this] { watch(); })) {}

Waits::~Waits() {
  {
    std::lock_guard<std::mutex> guard(Lock);
    Ends = true;
  }
  Changed.notify_all();
  Watcher.join();
}

void Waits::begin(const char *call) {
  std::lock_guard<std::mutex> guard(Lock);
  ++Waiting;
  ++Begun;
  Call = call;
  if (Asleep)
    Changed.notify_all();
}

void Waits::end() {
  std::lock_guard<std::mutex> guard(Lock);
  --Waiting;
}

void Waits::watch() {
  std::unique_lock<std::mutex> guard(Lock);
  while (!Ends) {
    Asleep = true;
    Changed.wait(guard, [&] { return Ends || Waiting; });
    Asleep = false;
    const uint64_t seen = Begun;
    if (Changed.wait_for(guard, Lasts, [&] { return Ends; }))
      return;
    if (!Waiting || Begun != seen)
      continue;
    // With the lock: the call does not return, and the program does not use
    // the device, before this is done.
    Lend(Call);
    // Once for a wait.
    while (!Ends && Waiting && Begun == seen)
      Changed.wait_for(guard, Lasts);
  }
}

Waiting::Waiting(const char *call)
    : Of([&]() -> Waits * {
        Front *front = Front::existing();
        return front ? waitsOf(*front) : nullptr;
      }()) {
  if (Of)
    Of->begin(call);
}

Waiting::~Waiting() {
  if (Of)
    Of->end();
}

} // namespace dragon::mpi
