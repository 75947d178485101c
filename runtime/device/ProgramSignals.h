//===- ProgramSignals.h - what the program wants of SIGSEGV -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Managed memory needs SIGSEGV: our handler stays installed, and no thread
// really blocks the signal, because a fault that is blocked ends the process.
// The program sees neither. The action that it sets is kept here, is reported
// back, and our handler acts by it where the signal is not ours:
//
//   a fault, handler set         the handler, with its sa_mask and sa_flags
//   a fault, ignored or blocked  the process ends: a fault cannot be ignored
//   sent (kill), blocked         waits until it is unblocked
//   sent, ignored                nothing
//
// In masks another signal stands for SIGSEGV: SIGSTKFLT, which no system sends.
// So the system itself takes the program's wish wherever masks go: to new
// threads, into and out of handlers, through siglongjmp and swapcontext. What
// is sent while it is blocked is sent on as that signal, and is pending in the
// system then.
//
//   program: block {INT, SEGV}    system: block {INT, STKFLT}
//   kill(SEGV): our handler sends STKFLT, which waits
//   program: unblock {SEGV}       STKFLT arrives: the program's SEGV handler
//
// A child made by vfork shares this memory and has its own actions: those go to
// the system alone (isOurs).
//
// Threads: all functions from any thread, and from handlers of signals.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_PROGRAMSIGNALS_H
#define DRAGON_RUNTIME_DEVICE_PROGRAMSIGNALS_H

#include <csignal>

namespace dragon {

class ProgramSignals {
public:
  /// In masks, for SIGSEGV.
  static constexpr int StandIn = SIGSTKFLT;

  using Handler = void (*)(int signal, siginfo_t *info, void *context);
  /// Puts `handler` in place of the program's, which is kept. errno, or 0.
  static int install(Handler handler);
  static bool isInstalled();
  /// This process is the one that the books are of, or its copy.
  static bool isOurs();

  /// Both have actions of ours.
  static bool isKept(int signal) {
    return signal == SIGSEGV || signal == StandIn;
  }
  /// sigaction() of these two, once the handler is installed. Both may be null.
  static void exchange(int signal, const struct sigaction *now,
                       struct sigaction *before);
  /// The system has reported this action: the program gets its own.
  static void translate(int signal, struct sigaction &action);

  static sigset_t toSystem(const sigset_t &program);
  static void toProgram(sigset_t &system);

  /// Our handler has got a signal that is not for us.
  static void handle(siginfo_t *info, void *context);

  /// For what exec makes of this process: what the program asked for is real
  /// while it lives.
  class ForExec {
  public:
    /// `actions`: not only the thread's mask.
    explicit ForExec(bool actions);
    ~ForExec();
    ForExec(const ForExec &) = delete;
    ForExec &operator=(const ForExec &) = delete;

  private:
    bool Ignored = false;
    bool Blocked = false;
  };
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_PROGRAMSIGNALS_H
