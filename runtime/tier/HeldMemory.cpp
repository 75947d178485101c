//===- HeldMemory.cpp - what the device reads where it lies ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/HeldMemory.h"

#include <algorithm>
#include <ctime>
#include <pthread.h>

namespace dragon {

HeldMemory &HeldMemory::get() {
  static constinit HeldMemory held; // handlers ask
  return held;
}

bool HeldMemory::hold(uintptr_t begin, uintptr_t end) {
  // No device reads anything for a child, and no thread lets anything go.
  static const bool IsLetGoInChild =
      ::pthread_atfork(nullptr, nullptr, [] { get().clear(); }) == 0;
  if (!IsLetGoInChild)
    return false;
  for (Range &range : Ranges) {
    uintptr_t none = 0;
    if (!range.begin.compare_exchange_strong(none, begin))
      continue;
    range.end = end;
    return true;
  }
  return false;
}

void HeldMemory::letGo(uintptr_t begin, uintptr_t end) {
  for (Range &range : Ranges) {
    uintptr_t same = end;
    if (range.begin != begin || !range.end.compare_exchange_strong(same, 0))
      continue;
    range.begin = 0;
    return;
  }
}

bool HeldMemory::overlaps(uintptr_t begin, uintptr_t end) const {
  return std::ranges::any_of(Ranges, [=](const Range &range) {
    const uintptr_t from = range.begin, to = range.end;
    return from && from < end && (to == 0 || to > begin);
  });
}

void HeldMemory::await(uintptr_t begin, uintptr_t end) const {
  constexpr timespec Pause{0, 20000}; // a few MiB by the link take longer
  while (overlaps(begin, end))
    ::nanosleep(&Pause, nullptr);
}

void HeldMemory::clear() {
  for (Range &range : Ranges)
    range.end = range.begin = 0;
}

} // namespace dragon
