//===- SignalsHeldOff.h - no handlers while a lock is held ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handler of the program's (SIGALRM, SIGPROF) that touches managed memory
// needs the runtime's lock, and the driver's. If it interrupts the thread that
// has one of them, it can never get it: so such threads have no handlers run,
// in programs that have handlers. It costs two system calls there and a load
// elsewhere. Signals that a thread raises by what it does (SIGSEGV, SIGFPE) are
// never held off.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_SIGNALSHELDOFF_H
#define DRAGON_RUNTIME_BASE_SIGNALSHELDOFF_H

#include <atomic>

namespace dragon {

class SignalsHeldOff {
public:
  /// The program has a handler of this signal.
  static void expect(int signal);

  /// While it lives, if `wanted`.
  explicit SignalsHeldOff(bool wanted) {
    if (wanted && Expected.load(std::memory_order_relaxed))
      hold();
  }
  ~SignalsHeldOff() {
    if (Held)
      letGo();
  }
  SignalsHeldOff(const SignalsHeldOff &) = delete;
  SignalsHeldOff &operator=(const SignalsHeldOff &) = delete;

private:
  void hold();
  void letGo();

  static std::atomic<bool> Expected;
  bool Held = false;
  unsigned long Before = 0; ///< the thread's mask
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_SIGNALSHELDOFF_H
