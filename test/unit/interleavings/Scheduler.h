//===- Scheduler.h - all interleavings of a few threads ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a body of code again and again, each time with another interleaving of
// its threads, until all with a bounded number of preemptions have been run.
// Only one thread runs at a time; in front of each operation that depends on
// others (lock, wait, join, atomic access) the scheduler decides who goes on.
// What it decided is a list of numbers, so a failing run is repeated by its
// list.
//
// Idea and bound: Musuvathi and Qadeer, "Iterative Context Bounding for
// Systematic Testing of Multithreaded Programs", PLDI 2007 (CHESS). Most errors
// need one or two preemptions: switches away from a thread that could go on.
// Switches away from a thread that waits are free.
//
// How it hears of the operations (Interposed.cpp): the code under test is
// compiled with -fsanitize=thread, which calls a function for each atomic
// access, and linked with our functions in place of ThreadSanitizer's; those of
// the pthread library are interposed. The code itself is the product's.
//
// What is not a point of decision: relaxed accesses; read-modify-writes with
// acquire and release, which are what reference counts do; and locks of
// recursive mutexes, which only the devices of tests have: those call point(). Memory is
// sequentially consistent here: reorderings are ThreadSanitizer's to find. A
// timed wait times out only where nobody else can go on.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_INTERLEAVINGS_SCHEDULER_H
#define DRAGON_TEST_UNIT_INTERLEAVINGS_SCHEDULER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace dragon::test {

/// What to explore.
struct ExploreOptions {
  unsigned preemptions = 2;    ///< at most, in one run
  uint64_t schedules = 100000; ///< at most; fewer if there are no more
};

/// What was explored.
struct Explored {
  uint64_t schedules = 0;
  bool complete = false; ///< there are no more within the bound
  size_t longest = 0;    ///< the most decisions of a run
  std::string failure;   ///< empty: none; else with the list that repeats it
};

/// Runs `body` in each interleaving. It must do the same for the same
/// decisions, join all threads that it starts, and return an empty string, or
/// what went wrong: then no more are run.
Explored explore(const ExploreOptions &options,
                 const std::function<std::string()> &body);

/// One run. All members but those of the interposed functions are the
/// explorer's.
class Scheduler {
public:
  struct Decision {
    uint16_t chosen;
    uint16_t count; ///< of those who could go on
  };
  Scheduler(std::vector<Decision> replay, unsigned preemptions);
  ~Scheduler();

  /// The calling thread is the first one of the run, until end().
  void begin();
  void end();
  const std::vector<Decision> &decisions() const { return Taken; }

  // -- Called by the interposed functions, on threads of the run.
  /// The run that the calling thread belongs to; null: none.
  static Scheduler *ofThisThread();
  /// Others may go on here. `load`: of the address, which changes nothing.
  void point(const volatile void *load = nullptr);
  void lock(const void *mutex, bool recursive);
  bool tryLock(const void *mutex, bool recursive);
  void unlock(const void *mutex);
  void lockShared(const void *mutex);
  /// False: it timed out.
  bool wait(const void *condition, const void *mutex, bool timed);
  void notify(const void *condition, bool all);
  int start(pthread_t *thread, const pthread_attr_t *attributes,
            void *(*body)(void *), void *argument);
  /// Returns when the thread, if it is one of the run, has ended.
  void join(pthread_t thread);

private:
  enum class State { Ready, Locking, Waiting, Joining, Ended };
  struct Thread {
    State state = State::Ready;
    const void *on = nullptr; ///< what it waits for
    bool timed = false;
    bool timedOut = false;
    const volatile void *lastLoad = nullptr; ///< nobody else has run since
    pthread_t handle{};
    sem_t baton{};
  };
  struct Mutex {
    const Thread *owner = nullptr;
    unsigned depth = 0;  ///< of a recursive one
    unsigned shared = 0; ///< readers of a shared one
    bool free() const { return !owner && !shared; }
  };
  struct Started;

  static void *runStarted(void *argument);
  void endThread(Thread &self);
  /// Who goes on: the calling thread, if it can and nothing is decided.
  Thread &choose(Thread *self);
  void pass(Thread &self, Thread &next);
  void blockOn(State state, const void *on);
  void waitUntilFree(const void *mutex);
  void wakeLockers(const void *mutex);
  void wakeOneTimed();
  [[noreturn]] void stuck() const;

  const std::vector<Decision> Replay;
  const unsigned MostPreemptions;
  std::vector<Decision> Taken;
  unsigned Preemptions = 0;
  std::vector<std::unique_ptr<Thread>> Threads; ///< in the order of their start
  std::unordered_map<const void *, Mutex> Mutexes;
};

/// "0 2 1": for messages.
std::string textOf(const std::vector<Scheduler::Decision> &decisions);

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_INTERLEAVINGS_SCHEDULER_H
