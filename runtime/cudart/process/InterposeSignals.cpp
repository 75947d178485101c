//===- InterposeSignals.cpp - what the program asks of SIGSEGV ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The system is told what ProgramSignals.h says, and the program what it has
// asked for. From load on: a thread that blocks SIGSEGV may touch managed
// memory that is allocated later.
//
// Sources: sigaction(2), sigprocmask(2), sigset(3), sigblock(3), sigwait(3).
//
//===----------------------------------------------------------------------===//

#include "runtime/base/SignalsHeldOff.h"
#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/device/FaultHandling.h"
#include "runtime/device/ProgramSignals.h"

#include <cerrno>
#include <optional>

using namespace dragon;

namespace {

constexpr int StandIn = ProgramSignals::StandIn;

/// The mask for the system; none where the program gives none. Who blocks
/// SIGSEGV has our handler from then on.
class SystemMask {
public:
  explicit SystemMask(const sigset_t *program) : Given(program) {
    if (!program)
      return;
    Mask = ProgramSignals::toSystem(*program);
    if (sigismember(program, SIGSEGV) == 1)
      takeFaultSignal();
  }
  operator const sigset_t *() const { return Given ? &Mask : nullptr; }

private:
  const bool Given;
  sigset_t Mask;
};

void expect(int signal, sighandler_t handler) {
  if (handler != SIG_DFL && handler != SIG_IGN && handler != SIG_HOLD)
    SignalsHeldOff::expect(signal);
}

/// What waits for SIGSEGV waits for what was sent on, too.
sigset_t waitingFor(const sigset_t &program) {
  sigset_t system = program;
  if (sigismember(&program, SIGSEGV) == 1)
    sigaddset(&system, StandIn);
  else
    sigdelset(&system, StandIn);
  return system;
}

int signalFor(int received) { return received == StandIn ? SIGSEGV : received; }

template <typename Real>
int changeMask(Real real, int how, const sigset_t *set, sigset_t *before) {
  sigset_t after, old;
  if (set && how == SIG_UNBLOCK)
    after = waitingFor(*set);
  else if (set)
    after = *SystemMask(set);
  const int status = real(how, set ? &after : nullptr, before ? &old : nullptr);
  if (status == 0 && before) {
    ProgramSignals::toProgram(old);
    *before = old;
  }
  return status;
}

sighandler_t setHandler(int signal, sighandler_t handler, int flags) {
  struct sigaction action{}, before;
  action.sa_handler = handler;
  action.sa_flags = flags;
  return ::sigaction(signal, &action, &before) == 0 ? before.sa_handler
                                                    : SIG_ERR;
}

sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

/// The masks of BSD: one bit for each of the first 32 signals.
sigset_t fromBits(int bits) {
  sigset_t set;
  sigemptyset(&set);
  for (int signal = 1; signal < 32; ++signal)
    if (bits >> (signal - 1) & 1)
      sigaddset(&set, signal);
  return set;
}

int changeBits(int how, std::optional<int> bits) {
  sigset_t set = fromBits(bits.value_or(0)), before;
  ::pthread_sigmask(how, bits ? &set : nullptr, &before);
  unsigned result = 0;
  for (int signal = 1; signal < 32; ++signal)
    if (sigismember(&before, signal) == 1)
      result |= 1u << (signal - 1);
  return int(result);
}

/// The loading thread may have blocked SIGSEGV, or been started so.
__attribute__((constructor)) void takeOverMask() {
  sigset_t mask;
  if (DRAGON_REAL(pthread_sigmask)(SIG_BLOCK, nullptr, &mask) != 0 ||
      sigismember(&mask, SIGSEGV) != 1)
    return;
  takeFaultSignal();
  mask = ProgramSignals::toSystem(mask);
  DRAGON_REAL(pthread_sigmask)(SIG_SETMASK, &mask, nullptr);
}

} // namespace

extern "C" {

// -- Actions -----------------------------------------------------------------

int sigaction(int signal, const struct sigaction *now,
              struct sigaction *before) noexcept {
  struct sigaction after, old;
  if (now) {
    after = *now;
    expect(signal, now->sa_handler);
  }
  if (ProgramSignals::isKept(signal) && ProgramSignals::isInstalled() &&
      ProgramSignals::isOurs()) {
    ProgramSignals::exchange(signal, now ? &after : nullptr, &old);
    if (before)
      *before = old;
    return 0;
  }
  if (now && signal != SIGSEGV) {
    after.sa_mask = ProgramSignals::toSystem(now->sa_mask);
    if (sigismember(&now->sa_mask, SIGSEGV) == 1)
      takeFaultSignal();
  }
  const int status = DRAGON_REAL(sigaction)(signal, now ? &after : nullptr,
                                            before ? &old : nullptr);
  if (status == 0 && before) {
    ProgramSignals::translate(signal, old);
    *before = old;
  }
  return status;
}

#define DRAGON_SIGNAL(name, flags)                                             \
  sighandler_t name(int signal, sighandler_t handler) noexcept {               \
    if (ProgramSignals::isKept(signal))                                        \
      return setHandler(signal, handler, flags);                               \
    expect(signal, handler);                                                   \
    return DRAGON_REAL(name)(signal, handler);                                 \
  }
DRAGON_SIGNAL(signal, SA_RESTART)
DRAGON_SIGNAL(bsd_signal, SA_RESTART)
DRAGON_SIGNAL(ssignal, SA_RESTART)
DRAGON_SIGNAL(sysv_signal, SA_RESETHAND | SA_NODEFER | SA_INTERRUPT)
DRAGON_SIGNAL(__sysv_signal, SA_RESETHAND | SA_NODEFER | SA_INTERRUPT)

sighandler_t sigset(int signal, sighandler_t handler) noexcept {
  expect(signal, handler);
  if (!ProgramSignals::isKept(signal))
    return DRAGON_REAL(sigset)(signal, handler);
  const sigset_t set = only(signal);
  sigset_t mask;
  struct sigaction before;
  if (::sigaction(signal, nullptr, &before) != 0)
    return SIG_ERR;
  const bool holds = handler == SIG_HOLD;
  if (!holds && setHandler(signal, handler, 0) == SIG_ERR)
    return SIG_ERR;
  ::pthread_sigmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &set, &mask);
  return sigismember(&mask, signal) == 1 ? SIG_HOLD : before.sa_handler;
}

int sigignore(int signal) noexcept {
  if (!ProgramSignals::isKept(signal))
    return DRAGON_REAL(sigignore)(signal);
  return setHandler(signal, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

int siginterrupt(int signal, int interrupt) noexcept {
  if (!ProgramSignals::isKept(signal))
    return DRAGON_REAL(siginterrupt)(signal, interrupt);
  struct sigaction action;
  if (::sigaction(signal, nullptr, &action) != 0)
    return -1;
  action.sa_flags =
      interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return ::sigaction(signal, &action, nullptr);
}

// -- Masks -------------------------------------------------------------------

int sigprocmask(int how, const sigset_t *set, sigset_t *before) noexcept {
  return changeMask(DRAGON_REAL(sigprocmask), how, set, before);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) noexcept {
  return changeMask(DRAGON_REAL(pthread_sigmask), how, set, before);
}

int sighold(int signal) noexcept {
  if (!ProgramSignals::isKept(signal))
    return DRAGON_REAL(sighold)(signal);
  const sigset_t set = only(signal);
  return ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

int sigrelse(int signal) noexcept {
  if (!ProgramSignals::isKept(signal))
    return DRAGON_REAL(sigrelse)(signal);
  const sigset_t set = only(signal);
  return ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

int sigblock(int bits) noexcept { return changeBits(SIG_BLOCK, bits); }
int sigsetmask(int bits) noexcept { return changeBits(SIG_SETMASK, bits); }
int siggetmask() noexcept { return changeBits(SIG_BLOCK, std::nullopt); }

int sigsuspend(const sigset_t *mask) {
  return DRAGON_REAL(sigsuspend)(SystemMask(mask));
}

int ppoll(pollfd *fds, nfds_t count, const timespec *timeout,
          const sigset_t *mask) {
  return DRAGON_REAL(ppoll)(fds, count, timeout, SystemMask(mask));
}

int __ppoll_chk(pollfd *fds, nfds_t count, const timespec *timeout,
                const sigset_t *mask, size_t room) {
  return DRAGON_REAL(__ppoll_chk)(fds, count, timeout, SystemMask(mask), room);
}

int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
            const timespec *timeout, const sigset_t *mask) {
  return DRAGON_REAL(pselect)(count, reads, writes, others, timeout,
                              SystemMask(mask));
}

int epoll_pwait(int fd, epoll_event *events, int count, int timeout,
                const sigset_t *mask) {
  return DRAGON_REAL(epoll_pwait)(fd, events, count, timeout, SystemMask(mask));
}

int epoll_pwait2(int fd, epoll_event *events, int count,
                 const timespec *timeout, const sigset_t *mask) {
  return DRAGON_REAL(epoll_pwait2)(fd, events, count, timeout,
                                   SystemMask(mask));
}

int pthread_attr_setsigmask_np(pthread_attr_t *attributes,
                               const sigset_t *mask) {
  return DRAGON_REAL(pthread_attr_setsigmask_np)(attributes, SystemMask(mask));
}

int pthread_attr_getsigmask_np(const pthread_attr_t *attributes,
                               sigset_t *mask) {
  const int status = DRAGON_REAL(pthread_attr_getsigmask_np)(attributes, mask);
  if (status == 0)
    ProgramSignals::toProgram(*mask);
  return status;
}

// -- What waits --------------------------------------------------------------

int sigpending(sigset_t *set) noexcept {
  sigset_t pending;
  if (DRAGON_REAL(sigpending)(&pending) != 0)
    return -1;
  if (sigismember(&pending, StandIn) == 1)
    sigaddset(&pending, SIGSEGV);
  sigdelset(&pending, StandIn);
  *set = pending;
  return 0;
}

int sigwait(const sigset_t *set, int *signal) {
  const sigset_t system = waitingFor(*set);
  int received;
  const int status = DRAGON_REAL(sigwait)(&system, &received);
  if (status == 0)
    *signal = signalFor(received);
  return status;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info,
                 const timespec *timeout) {
  const sigset_t system = waitingFor(*set);
  siginfo_t received;
  const int signal = DRAGON_REAL(sigtimedwait)(&system, &received, timeout);
  if (signal < 0)
    return signal;
  received.si_signo = signalFor(signal);
  if (info)
    *info = received;
  return received.si_signo;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
  return ::sigtimedwait(set, info, nullptr);
}

int signalfd(int fd, const sigset_t *mask, int flags) noexcept {
  const sigset_t system = waitingFor(*mask);
  return DRAGON_REAL(signalfd)(fd, &system, flags);
}

} // extern "C"
