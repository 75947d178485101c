//===- ThreadPoolTest.cpp -------------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ThreadPool.h"

#include <gtest/gtest.h>

#include <csignal>

namespace dragon {

// Else one that is sent to the process may meet a thread that must go on: the
// one that writes the statistics of a killed run waited for itself.
TEST(StartThread, TakesNoSignalThatIsSentToTheProcess) {
  sigset_t mask;
  sigemptyset(&mask);
  startThread([&mask] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); }).join();
  for (int signal : {SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM})
    EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
  // Its own faults.
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    EXPECT_EQ(sigismember(&mask, signal), 0) << signal;
}

} // namespace dragon
