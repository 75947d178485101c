//===- FairMutex.cpp - waiting for one's number ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sleeper is not missed: it looks at Served under the lock Sleep, and who has
// stored its number takes that lock before it wakes. Either the sleeper looks
// after the store, or it sleeps already when it is woken.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/FairMutex.h"

namespace dragon {

namespace {
constexpr int Looks = 100; ///< about a microsecond: less than falling asleep

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}
} // namespace

void FairMutex::wait(uint32_t number) {
  auto served = [&] {
    return Served.load(std::memory_order_acquire) == number;
  };
  for (int look = 0; look < Looks; ++look) {
    if (served())
      return;
    pause();
  }
  std::unique_lock<std::mutex> guard(Sleep);
  sleepersOf(number).wait(guard, served);
}

void FairMutex::wake(uint32_t number) {
  std::lock_guard<std::mutex> guard(Sleep);
  sleepersOf(number).notify_all();
}

} // namespace dragon
