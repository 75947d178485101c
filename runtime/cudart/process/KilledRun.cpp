//===- KilledRun.cpp - the statistics of a run that is killed -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signal handler may take no lock and allocate nothing: the thread that it
// interrupts may hold any lock. So a thread of our own waits for the day, and
// the handler wakes it, waits until it has written everything, and lets the
// signal do what it does without us:
//
//   program    ...| handler: wake, wait          | SIG_DFL, raise -> killed
//   ours          |               write the statistics |
//
// Our thread takes no lock for longer than it must, and frees no memory that
// others have allocated: the interrupted thread may be within malloc(), too.
//
// The interrupted thread stays in the handler: a system call that came back
// with EINTR would make the program do something that it does not do when it is
// killed. All waits have an end, so a process in whatever state is gone in the
// end, and by the same signal as ever.
//
// Signals for which the program has a handler of its own, or which it ignores,
// stay its own, and who installs one later replaces ours. Without DRAGON_STATS,
// DRAGON_TRACE and DRAGON_REPORT there is nothing of this.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/KilledRun.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/core/Runtime.h"
#include "runtime/cudart/process/RunPage.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <semaphore.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace dragon {

namespace {

constexpr int Signals[] = {SIGTERM, SIGINT, SIGHUP, SIGABRT};
/// For the statistics to be written, on a slow file system as well.
constexpr int MostMilliseconds = 10000;
/// For the page to be made; who makes it goes on without us.
constexpr std::chrono::seconds MostForPage{10};

sem_t killed;
std::atomic<bool> written{false};
int patience = MostMilliseconds;
pid_t process = 0; // a child has a copy of the handlers, and no thread

void onKill(int signal) {
  // abort() ends the process when its handler returns.
  if (signal != SIGABRT && putOffByTrace(signal))
    return;
  if (::getpid() == process) {
    ::sem_post(&killed);
    for (int i = 0; i < patience && !written.load(); ++i)
      ::poll(nullptr, 0, 1);
  }
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
  ::raise(signal); // blocked while its handler runs
  sigset_t itself;
  sigemptyset(&itself);
  sigaddset(&itself, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &itself, nullptr);
}

} // namespace

void reportWhenKilled(Runtime &runtime) {
  const Settings &settings = runtime.settings();
  // The first process of a container is not killed by what others send it.
  if (!settings.reported() || ::getpid() == 1)
    return;
  if (!settings.report.empty())
    patience += int(std::chrono::milliseconds(MostForPage).count());
  process = ::getpid();
  ::sem_init(&killed, 0, 0);
  try {
    startThread([&runtime] {
      while (::sem_wait(&killed) != 0 && errno == EINTR) {
      }
      if (runtime.reportBeforeDeath())
        makeRunPage(runtime, MostForPage);
      written = true;
    }).detach();
  } catch (const std::system_error &error) {
    log(LogLevel::Info, "no thread for the statistics of a killed run: {}",
        error.what());
    return;
  }
  struct sigaction ours{};
  ours.sa_handler = onKill;
  ours.sa_flags = SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (int signal : Signals)
    sigaddset(&ours.sa_mask, signal);
  for (int signal : Signals) {
    struct sigaction now;
    if (::sigaction(signal, nullptr, &now) == 0 &&
        !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
      ::sigaction(signal, &ours, nullptr);
  }
}

} // namespace dragon
