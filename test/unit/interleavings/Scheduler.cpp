//===- Scheduler.cpp - one thread at a time -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads are real ones that pass a baton. Who has it may touch the scheduler's
// data; nobody else runs. Mutexes and condition variables of the code under
// test are only accounts here: they are never locked for real.
//
//===----------------------------------------------------------------------===//

#include "test/unit/interleavings/Scheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace dragon::test {

int startForReal(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                 void *); // Interposed.cpp

namespace {

thread_local Scheduler *currentRun = nullptr;
thread_local void *currentThread = nullptr;

/// The next list of decisions, depth first; empty: there is none.
std::vector<Scheduler::Decision>
nextOf(std::vector<Scheduler::Decision> decisions) {
  while (!decisions.empty()) {
    Scheduler::Decision &last = decisions.back();
    if (++last.chosen < last.count)
      return decisions;
    decisions.pop_back();
  }
  return decisions;
}

} // namespace

struct Scheduler::Started {
  Scheduler *run;
  Thread *thread;
  void *(*body)(void *);
  void *argument;
};

std::string textOf(const std::vector<Scheduler::Decision> &decisions) {
  std::string text;
  for (const Scheduler::Decision &decision : decisions)
    text += std::to_string(decision.chosen) + " ";
  return text;
}

Explored explore(const ExploreOptions &options,
                 const std::function<std::string()> &body) {
  Explored explored;
  std::vector<Scheduler::Decision> replay;
  while (explored.schedules < options.schedules) {
    Scheduler run(replay, options.preemptions);
    run.begin();
    const std::string failure = body();
    run.end();
    ++explored.schedules;
    explored.longest = std::max(explored.longest, run.decisions().size());
    if (!failure.empty()) {
      explored.failure = failure + " (decisions: " + textOf(run.decisions()) +
                         "; schedule " + std::to_string(explored.schedules) +
                         ")";
      return explored;
    }
    replay = nextOf(run.decisions());
    if (replay.empty()) {
      explored.complete = true;
      return explored;
    }
  }
  return explored;
}

Scheduler::Scheduler(std::vector<Decision> replay, unsigned preemptions)
    : Replay(std::move(replay)), MostPreemptions(preemptions) {}

Scheduler::~Scheduler() {
  for (const std::unique_ptr<Thread> &thread : Threads)
    sem_destroy(&thread->baton);
}

Scheduler *Scheduler::ofThisThread() { return currentRun; }

void Scheduler::begin() {
  Thread &first = *Threads.emplace_back(std::make_unique<Thread>());
  first.handle = pthread_self();
  sem_init(&first.baton, 0, 0);
  currentThread = &first;
  currentRun = this;
}

void Scheduler::end() {
  const bool all =
      std::all_of(Threads.begin() + 1, Threads.end(), [](const auto &thread) {
        return thread->state == State::Ended;
      });
  currentRun = nullptr;
  currentThread = nullptr;
  if (!all) {
    std::fprintf(stderr, "interleavings: the body returned before its threads "
                         "had ended\n");
    std::abort();
  }
}

Scheduler::Thread &Scheduler::choose(Thread *self) {
  std::vector<Thread *> ready;
  if (self)
    ready.push_back(self);
  auto gather = [&] {
    for (const std::unique_ptr<Thread> &thread : Threads)
      if (thread->state == State::Ready && thread.get() != self)
        ready.push_back(thread.get());
  };
  gather();
  if (ready.empty()) {
    wakeOneTimed();
    gather();
  }
  if (ready.empty())
    stuck();
  if (ready.size() == 1 || (self && Preemptions == MostPreemptions))
    return *ready.front();
  Decision decision{0, uint16_t(ready.size())};
  if (Taken.size() < Replay.size()) {
    decision = Replay[Taken.size()];
    if (decision.count != ready.size()) {
      std::fprintf(stderr,
                   "interleavings: decision %zu is between %zu threads and was "
                   "between %u: the body is not deterministic\n",
                   Taken.size(), ready.size(), decision.count);
      std::abort();
    }
  }
  Taken.push_back(decision);
  if (self && decision.chosen)
    ++Preemptions;
  return *ready[decision.chosen];
}

void Scheduler::pass(Thread &self, Thread &next) {
  if (&self == &next)
    return;
  self.lastLoad = next.lastLoad = nullptr;
  sem_post(&next.baton);
  while (sem_wait(&self.baton) != 0) {
  }
}

void Scheduler::point(const volatile void *load) {
  Thread &self = *static_cast<Thread *>(currentThread);
  // Nobody has run since this thread loaded from there: it finds what it found,
  // as those do who look again and again until something changes.
  if (load && self.lastLoad == load)
    return;
  Thread &next = choose(&self);
  pass(self, next);
  self.lastLoad = load;
}

void Scheduler::blockOn(State state, const void *on) {
  Thread &self = *static_cast<Thread *>(currentThread);
  self.state = state;
  self.on = on;
  pass(self, choose(nullptr));
}

void Scheduler::lock(const void *mutex, bool recursive) {
  Thread *self = static_cast<Thread *>(currentThread);
  if (!recursive)
    point();
  if (recursive && Mutexes[mutex].owner == self) {
    ++Mutexes[mutex].depth;
    return;
  }
  waitUntilFree(mutex);
  Mutexes[mutex] = {self, 1, 0};
}

void Scheduler::waitUntilFree(const void *mutex) {
  while (!Mutexes[mutex].free())
    blockOn(State::Locking, mutex);
}

bool Scheduler::tryLock(const void *mutex, bool recursive) {
  if (!recursive)
    point();
  Mutex &entry = Mutexes[mutex];
  if (!entry.free() && !(recursive && entry.owner == currentThread))
    return false;
  entry.owner = static_cast<Thread *>(currentThread);
  ++entry.depth;
  return true;
}

void Scheduler::lockShared(const void *mutex) {
  point();
  while (Mutexes[mutex].owner)
    blockOn(State::Locking, mutex);
  ++Mutexes[mutex].shared;
}

void Scheduler::unlock(const void *mutex) {
  Mutex &entry = Mutexes[mutex];
  if (entry.shared)
    --entry.shared;
  else if (--entry.depth == 0)
    entry.owner = nullptr;
  if (entry.free()) {
    // A mutex may be gone with the object that holds it, and its address with
    // another one, as soon as nobody uses it.
    wakeLockers(mutex);
    Mutexes.erase(mutex);
  }
}

void Scheduler::wakeLockers(const void *mutex) {
  for (const std::unique_ptr<Thread> &thread : Threads)
    if (thread->state == State::Locking && thread->on == mutex)
      thread->state = State::Ready;
}

bool Scheduler::wait(const void *condition, const void *mutex, bool timed) {
  Thread &self = *static_cast<Thread *>(currentThread);
  Mutexes.erase(mutex);
  wakeLockers(mutex);
  self.timed = timed;
  self.timedOut = false;
  blockOn(State::Waiting, condition);
  self.timed = false;
  waitUntilFree(mutex);
  Mutexes[mutex] = {&self, 1, 0};
  return !self.timedOut;
}

void Scheduler::notify(const void *condition, bool all) {
  for (const std::unique_ptr<Thread> &thread : Threads)
    if (thread->state == State::Waiting && thread->on == condition) {
      thread->state = State::Ready;
      if (!all)
        break;
    }
}

void Scheduler::wakeOneTimed() {
  for (const std::unique_ptr<Thread> &thread : Threads)
    if (thread->state == State::Waiting && thread->timed) {
      thread->state = State::Ready;
      thread->timedOut = true;
      return;
    }
}

void *Scheduler::runStarted(void *argument) {
  const std::unique_ptr<Started> started(static_cast<Started *>(argument));
  while (sem_wait(&started->thread->baton) != 0) {
  }
  currentThread = started->thread;
  currentRun = started->run;
  void *result = started->body(started->argument);
  started->run->endThread(*started->thread);
  return result;
}

void Scheduler::endThread(Thread &self) {
  self.state = State::Ended;
  for (const std::unique_ptr<Thread> &thread : Threads)
    if (thread->state == State::Joining && thread->on == &self)
      thread->state = State::Ready;
  currentRun = nullptr;
  currentThread = nullptr;
  sem_post(&choose(nullptr).baton);
}

int Scheduler::start(pthread_t *handle, const pthread_attr_t *attributes,
                     void *(*body)(void *), void *argument) {
  Thread &thread = *Threads.emplace_back(std::make_unique<Thread>());
  sem_init(&thread.baton, 0, 0);
  auto started =
      std::make_unique<Started>(Started{this, &thread, body, argument});
  if (int error =
          startForReal(&thread.handle, attributes, runStarted, started.get())) {
    thread.state = State::Ended;
    return error;
  }
  started.release(); // the thread's now
  *handle = thread.handle;
  return 0;
}

void Scheduler::join(pthread_t handle) {
  point();
  for (const std::unique_ptr<Thread> &thread : Threads)
    if (thread->handle == handle && thread->state != State::Ended)
      blockOn(State::Joining, thread.get());
}

void Scheduler::stuck() const {
  static const char *const Names[] = {
      "ready", "locks a mutex", "waits for a condition", "joins", "has ended"};
  std::fprintf(stderr, "interleavings: nobody can go on (decisions: %s)\n",
               textOf(Taken).c_str());
  for (size_t i = 0; i < Threads.size(); ++i)
    std::fprintf(stderr, "  thread %zu %s\n", i,
                 Names[size_t(Threads[i]->state)]);
  std::abort();
}

} // namespace dragon::test
