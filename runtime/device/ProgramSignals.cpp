//===- ProgramSignals.cpp - what the program wants of SIGSEGV -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: sigaction(2), signal(7), rt_sigqueueinfo(2); Linux, kernel/signal.c.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ProgramSignals.h"

#include <atomic>
#include <cerrno>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// sigaction under a name that is not interposed.
extern "C" int __sigaction(int signal, const struct sigaction *now,
                           struct sigaction *before) noexcept;

namespace dragon {

namespace {

using Mask = unsigned long; // the kernel's: one bit for each signal from 1 on

constexpr Mask bitOf(int signal) { return Mask(1) << (signal - 1); }

/// Raised by what the thread itself does: to block them is to end the process.
constexpr Mask Synchronous = bitOf(SIGSEGV) | bitOf(SIGBUS) | bitOf(SIGFPE) |
                             bitOf(SIGILL) | bitOf(SIGTRAP) | bitOf(SIGSYS);
/// The C library's own.
constexpr Mask Internal = bitOf(32) | bitOf(33);
/// What can be held off for a while.
constexpr Mask Others =
    ~(Synchronous | Internal | bitOf(ProgramSignals::StandIn));

Mask changeMask(int how, Mask set) {
  Mask before = 0;
  ::syscall(SYS_rt_sigprocmask, how, &set, &before, sizeof(Mask));
  return before;
}

Mask toMask(const sigset_t &set) {
  return *reinterpret_cast<const Mask *>(&set);
}

/// Threads' turns at what is shared; no handler runs meanwhile.
class Turn {
public:
  Turn() : Before(take()) {}
  ~Turn() { give(Before); }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;

  static Mask take() {
    const Mask before = changeMask(SIG_BLOCK, ~(Mask(0)));
    while (Taken.exchange(true, std::memory_order_acquire))
      ::sched_yield();
    return before;
  }
  static void give(Mask before) {
    Taken.store(false, std::memory_order_release);
    changeMask(SIG_SETMASK, before);
  }

private:
  static std::atomic<bool> Taken;
  const Mask Before;
};
std::atomic<bool> Turn::Taken{false};

struct State {
  struct sigaction fault{}; ///< as the program set it; under a Turn
  struct sigaction standIn{};
  ProgramSignals::Handler handler = nullptr;
  std::atomic<bool> installed{false};
  std::atomic<pid_t> process{0};
  Mask beforeFork = 0; ///< of the thread that makes a child, under its Turn
};
constinit State state;

struct sigaction &keptFor(int signal) {
  return signal == SIGSEGV ? state.fault : state.standIn;
}

/// Our handler for both signals. Where the program wants that, a system call
/// that was interrupted goes on.
int setReal() {
  struct sigaction action{};
  action.sa_sigaction = state.handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  if ((state.fault.sa_flags & SA_RESTART) || state.fault.sa_handler == SIG_IGN)
    action.sa_flags |= SA_RESTART;
  // Handlers of other signals could need what ours has locked.
  sigfillset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS,
                     ProgramSignals::StandIn})
    sigdelset(&action.sa_mask, signal);
  for (int signal : {SIGSEGV, ProgramSignals::StandIn})
    if (__sigaction(signal, &action, nullptr) != 0)
      return errno;
  return 0;
}

void setStandard(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  __sigaction(signal, &action, nullptr);
}

/// As if there was no handler. A fault comes again when the handler returns.
void end(bool wasSent) {
  setStandard(SIGSEGV, SIG_DFL);
  if (wasSent)
    ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), SIGSEGV);
}

/// It waits in the system, for this thread or for whoever unblocks it first.
void sendOn(siginfo_t info) {
  info.si_signo = ProgramSignals::StandIn;
  if (info.si_code == SI_TKILL)
    ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid),
              ProgramSignals::StandIn, &info);
  else
    ::syscall(SYS_rt_sigqueueinfo, ::getpid(), ProgramSignals::StandIn, &info);
}

/// Linux passes all three arguments to each handler, and handlers that were not
/// declared to take them rely on that or ignore them.
__attribute__((no_sanitize("function"))) void
callProgram(const struct sigaction &action, siginfo_t *info,
            ucontext_t *context) {
  Mask mask = toMask(context->uc_sigmask) |
              toMask(ProgramSignals::toSystem(action.sa_mask));
  if (!(action.sa_flags & SA_NODEFER))
    mask |= bitOf(ProgramSignals::StandIn);
  changeMask(SIG_SETMASK, mask & ~(bitOf(SIGSEGV) | Internal));
  // The handler may look at the mask to return to, and change it.
  ProgramSignals::toProgram(context->uc_sigmask);
  reinterpret_cast<ProgramSignals::Handler>(action.sa_sigaction)(SIGSEGV, info,
                                                                 context);
  changeMask(SIG_BLOCK, Others);
  context->uc_sigmask = ProgramSignals::toSystem(context->uc_sigmask);
}

} // namespace

/// A child that fork makes is a copy, and finds nobody's turn.
__attribute__((constructor)) static void rememberProcess() {
  state.process = ::getpid();
  ::pthread_atfork([] { state.beforeFork = Turn::take(); },
                   [] { Turn::give(state.beforeFork); },
                   [] {
                     state.process = ::getpid();
                     Turn::give(state.beforeFork);
                   });
}

int ProgramSignals::install(Handler handler) {
  if (isInstalled())
    return 0;
  Turn turn;
  if (isInstalled())
    return 0;
  for (int signal : {SIGSEGV, StandIn})
    if (__sigaction(signal, nullptr, &keptFor(signal)) != 0)
      return errno;
  toProgram(state.fault.sa_mask);
  state.handler = handler;
  if (const int error = setReal())
    return error;
  state.installed.store(true, std::memory_order_release);
  return 0;
}

bool ProgramSignals::isInstalled() {
  return state.installed.load(std::memory_order_acquire);
}

bool ProgramSignals::isOurs() { return ::getpid() == state.process; }

void ProgramSignals::exchange(int signal, const struct sigaction *now,
                              struct sigaction *before) {
  Turn turn;
  const struct sigaction old = keptFor(signal);
  if (now) {
    keptFor(signal) = *now;
    setReal();
  }
  if (before)
    *before = old;
}

void ProgramSignals::translate(int signal, struct sigaction &action) {
  if (isKept(signal) && isInstalled() && action.sa_sigaction == state.handler)
    exchange(signal, nullptr, &action);
  else
    toProgram(action.sa_mask);
}

sigset_t ProgramSignals::toSystem(const sigset_t &program) {
  sigset_t system = program;
  if (sigismember(&program, SIGSEGV) == 1)
    sigaddset(&system, StandIn);
  else
    sigdelset(&system, StandIn);
  sigdelset(&system, SIGSEGV);
  return system;
}

void ProgramSignals::toProgram(sigset_t &system) {
  if (sigismember(&system, StandIn) == 1)
    sigaddset(&system, SIGSEGV);
}

void ProgramSignals::handle(siginfo_t *info, void *context) {
  auto *machine = static_cast<ucontext_t *>(context);
  const bool wasSent = info->si_code <= 0;
  const bool blocked = sigismember(&machine->uc_sigmask, StandIn) == 1;
  if (wasSent && blocked) {
    sendOn(*info);
    return;
  }
  info->si_signo = SIGSEGV;
  struct sigaction action;
  {
    Turn turn;
    action = state.fault;
    const bool isHandler =
        action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL;
    if (!blocked && isHandler && (action.sa_flags & SA_RESETHAND))
      state.fault.sa_handler = SIG_DFL;
  }
  if (action.sa_handler == SIG_IGN && wasSent)
    return;
  if (blocked || action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL)
    end(wasSent);
  else
    callProgram(action, info, machine);
}

ProgramSignals::ForExec::ForExec(bool actions) {
  if (actions && isInstalled()) {
    struct sigaction action;
    exchange(SIGSEGV, nullptr, &action);
    Ignored = action.sa_handler == SIG_IGN;
    if (Ignored)
      setStandard(SIGSEGV, SIG_IGN);
  }
  Blocked = changeMask(SIG_BLOCK, 0) & bitOf(StandIn);
  if (Blocked)
    changeMask(SIG_BLOCK, bitOf(SIGSEGV));
}

ProgramSignals::ForExec::~ForExec() {
  if (Blocked)
    changeMask(SIG_UNBLOCK, bitOf(SIGSEGV));
  if (Ignored && isOurs()) {
    Turn turn;
    setReal();
  }
}

} // namespace dragon
