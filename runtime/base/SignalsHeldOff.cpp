//===- SignalsHeldOff.cpp - no handlers while a lock is held --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/SignalsHeldOff.h"

#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace dragon {

namespace {

constexpr unsigned long bitOf(int signal) { return 1ul << (signal - 1); }

/// All but what threads raise by what they do, what stands for SIGSEGV
/// (device/ProgramSignals.h) and the C library's own.
constexpr unsigned long Others = ~(
    bitOf(SIGSEGV) | bitOf(SIGBUS) | bitOf(SIGFPE) | bitOf(SIGILL) |
    bitOf(SIGTRAP) | bitOf(SIGSYS) | bitOf(SIGSTKFLT) | bitOf(32) | bitOf(33));

} // namespace

std::atomic<bool> SignalsHeldOff::Expected{false};

void SignalsHeldOff::expect(int signal) {
  if (signal > 0 && signal <= 64 && (Others & bitOf(signal)))
    Expected.store(true, std::memory_order_relaxed);
}

void SignalsHeldOff::hold() {
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &Others, &Before, sizeof Before);
  Held = true;
}

void SignalsHeldOff::letGo() {
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &Before, nullptr, sizeof Before);
}

} // namespace dragon
