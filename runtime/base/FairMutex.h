//===- FairMutex.h - a lock that threads get in their order -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that gives up a std::mutex and takes it again at once gets it again,
// before those that it woke have come to run: a loop of calls keeps all other
// threads out, for good on some machines. Here each thread takes a number, and
// the lock goes to the numbers one after the other.
//
// Who finds the lock free pays for two atomic operations, one to lock it and
// one to unlock it. Others look a few times more, since most calls are short,
// and then sleep, each number at one of a few condition variables, so that an
// unlock wakes the next thread and, unless very many wait, no other.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_FAIRMUTEX_H
#define DRAGON_RUNTIME_BASE_FAIRMUTEX_H

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dragon {

/// All calls must have returned before it is destroyed: an unlock() that lets
/// another thread go on still looks whom to wake.
class FairMutex {
public:
  FairMutex() = default;
  FairMutex(const FairMutex &) = delete;
  FairMutex &operator=(const FairMutex &) = delete;

  // Named as std::lock_guard wants it.
  void lock() {
    // Either this sees the number that unlock() stored, or unlock() sees that
    // a number was taken: both are sequentially consistent.
    uint32_t number = Taken.fetch_add(1, std::memory_order_seq_cst);
    if (Served.load(std::memory_order_seq_cst) != number)
      wait(number);
  }

  /// True if it was free; waits for nobody.
  bool try_lock() { // NOLINT(readability-identifier-naming): Lockable's
    // While the number that is served has not been taken, nobody has the lock.
    uint32_t number = Served.load(std::memory_order_seq_cst);
    return Taken.compare_exchange_strong(number, number + 1,
                                         std::memory_order_seq_cst);
  }

  void unlock() {
    uint32_t next = Served.load(std::memory_order_relaxed) + 1;
    Served.store(next, std::memory_order_seq_cst);
    if (Taken.load(std::memory_order_seq_cst) != next)
      wake(next);
  }

  /// How many threads have it or wait for it. Whoever has it learns at least
  /// how many there were when it called; others get a guess.
  uint32_t queued() const { return Taken.load() - Served.load(); }

private:
  void wait(uint32_t number);
  void wake(uint32_t number);
  std::condition_variable &sleepersOf(uint32_t number) {
    return Sleepers[number % Sleepers.size()];
  }

  std::atomic<uint32_t> Taken{0};  ///< the next number to be taken
  std::atomic<uint32_t> Served{0}; ///< the number that may have the lock
  std::mutex Sleep;                ///< between looking at Served and sleeping
  std::array<std::condition_variable, 16> Sleepers;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_FAIRMUTEX_H
