//===- LateDevice.h - a device that puts off all it can ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in front of a device that does everything at once, and makes an
// asynchronous one of it, of the worst kind: a copy, a fill or an event happens
// only when somebody waits for it, or for what comes after it in its queue. Who
// uses memory without having waited finds what was there before. What must not
// be put off is not: copies of pageable memory, after what they have to wait
// for; nor is poison, for which asynchronous devices have no mode. Launches are
// put off if asked for: their arguments must be words then.
//
// It also counts misuse: memory that is unmapped or destroyed while work on it
// is queued.
//
// Queues are independent of each other, the null queue as well.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_DEVICE_LATEDEVICE_H
#define DRAGON_TEST_UNIT_SUPPORT_DEVICE_LATEDEVICE_H

#include "runtime/device/ForwardingDevice.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace dragon::test {

class LateDevice : public ForwardingDevice {
public:
  explicit LateDevice(std::unique_ptr<Device> inner, bool lateLaunches = false)
      : ForwardingDevice(std::move(inner)), LateLaunches(lateLaunches) {
    Caps.asynchronous = true;
  }
  ~LateDevice() override {
    runAll().ignore();
    if (ReturnTo)
      *ReturnTo = takeInner();
  }
  /// The device behind outlives this one: to be used again.
  void returnInnerTo(std::unique_ptr<Device> &place) { ReturnTo = &place; }

  /// Unmapped or destroyed too early.
  unsigned misused() const { return Misused; }
  /// Copies that were put off.
  unsigned late() const { return Late; }
  /// How often the queue was told to wait for an event.
  unsigned waits(Queue queue) {
    Guard guard(Lock);
    return Lines[queue].waits;
  }
  /// Launches of the queue that are done.
  uint64_t launchesDone(Queue queue) {
    Guard guard(Lock);
    return Lines[queue].launchesDone;
  }
  /// The most queues that had launches at a time.
  size_t queuesAtATime() const { return QueuesAtATime; }

protected:
  struct Step {
    std::function<Status()> run;
    std::vector<AddressRange> ranges; ///< what it works on
    bool isLaunch = false;
  };
  struct Record {
    Queue queue;
    uint64_t number; ///< of steps in the queue, up to it
  };
  struct Line {
    std::deque<Step> steps;
    uint64_t done = 0;
    uint64_t launchesDone = 0;
    unsigned waits = 0;
  };
  using Guard = std::lock_guard<std::recursive_mutex>;

  /// Work is about to be queued or waited for.
  virtual void called() {}
  /// Work is about to be queued: what it has to wait for comes before it.
  virtual void order(Queue) {}
  virtual bool putsOff(const LaunchRequest &) const { return LateLaunches; }

  uint64_t queued(Queue queue) {
    Line &line = Lines[queue];
    return line.done + line.steps.size();
  }
  Status runUpTo(Queue queue, uint64_t number) {
    Line &line = Lines[queue];
    Status first;
    while (line.done < number) {
      Step step = std::move(line.steps.front());
      line.steps.pop_front();
      ++line.done;
      line.launchesDone += step.isLaunch;
      if (Status status = step.run(); first.ok() && !status.ok())
        first = std::move(status);
    }
    return first;
  }

  std::recursive_mutex Lock;
  std::map<Queue, Line> Lines;
  std::map<Event, Record> Records;

private:
  Status before(DeviceCall) override { return {}; }

  static AddressRange rangeOf(const void *memory, size_t bytes) {
    auto begin = reinterpret_cast<uintptr_t>(memory);
    return {begin, begin + bytes};
  }
  Status runAll() {
    Status first;
    for (auto &[queue, line] : Lines)
      if (Status status = runUpTo(queue, queued(queue));
          first.ok() && !status.ok())
        first = std::move(status);
    return first;
  }
  Status add(Queue queue, std::function<Status()> run, AddressRange a = {},
             AddressRange b = {}) {
    order(queue);
    Lines[queue].steps.push_back({std::move(run), {a, b}});
    return {};
  }
  bool isPinned(const void *memory) const {
    auto address = reinterpret_cast<uintptr_t>(memory);
    auto next = Pinned.upper_bound(address);
    return next != Pinned.begin() && address < std::prev(next)->second;
  }
  bool inBuffer(const void *memory) const {
    auto address = reinterpret_cast<uintptr_t>(memory);
    auto next = Reserved.upper_bound(address);
    return next != Reserved.begin() && address < std::prev(next)->second;
  }
  /// Work on the range is queued: the caller should have waited for it.
  void checkUnused(uintptr_t begin, size_t bytes) {
    for (const auto &[queue, line] : Lines)
      for (const Step &step : line.steps)
        for (AddressRange range : step.ranges)
          if (range.begin < begin + bytes && begin < range.end)
            ++Misused;
  }

  StatusOr<uintptr_t> reserveImpl(size_t bytes) override {
    Guard guard(Lock);
    DRAGON_ASSIGN(uintptr_t base, inner().reserve(bytes));
    Reserved[base] = base + bytes;
    return base;
  }
  Status releaseImpl(uintptr_t base, size_t bytes) override {
    Guard guard(Lock);
    Reserved.erase(base);
    return inner().release(base, bytes);
  }
  StatusOr<Physical> createImpl(Place place, size_t bytes) override {
    Guard guard(Lock);
    DRAGON_ASSIGN(Physical made, inner().create(place, bytes));
    if (made.hostView) {
      auto begin = reinterpret_cast<uintptr_t>(made.hostView);
      Pinned[begin] = begin + bytes;
    }
    return made;
  }
  Status destroyImpl(const Physical &physical) override {
    Guard guard(Lock);
    if (physical.hostView) {
      auto begin = reinterpret_cast<uintptr_t>(physical.hostView);
      checkUnused(begin, physical.bytes);
      Pinned.erase(begin);
    }
    return inner().destroy(physical);
  }
  Status unmapImpl(uintptr_t va, const Physical &physical) override {
    Guard guard(Lock);
    checkUnused(va, physical.bytes);
    return inner().unmap(va, physical);
  }

protected:
  Status destroyQueueImpl(Queue queue) override {
    called();
    Guard guard(Lock);
    DRAGON_TRY(runUpTo(queue, queued(queue)));
    return inner().destroyQueue(queue);
  }
  Status synchronizeImpl(Queue queue) override {
    called();
    Guard guard(Lock);
    DRAGON_TRY(runUpTo(queue, queued(queue)));
    return inner().synchronize(queue);
  }
  StatusOr<bool> queryImpl(Queue queue) override {
    Guard guard(Lock);
    return Lines[queue].steps.empty();
  }
  Status synchronizeAllImpl() override {
    called();
    Guard guard(Lock);
    DRAGON_TRY(runAll());
    return inner().synchronizeAll();
  }
  Status recordImpl(Event event, Queue queue) override {
    called();
    Guard guard(Lock);
    const uint64_t number = queued(queue) + 1;
    DRAGON_TRY(add(queue, [this, event, queue, number]() -> Status {
      auto record = Records.find(event);
      if (record == Records.end() || record->second.queue != queue ||
          record->second.number != number)
        return {}; // destroyed or recorded anew before its time came
      return inner().record(event, queue);
    }));
    Records[event] = {queue, number};
    return {};
  }
  Status destroyEventImpl(Event event) override {
    Guard guard(Lock);
    Records.erase(event);
    return inner().destroyEvent(event);
  }
  Status waitImpl(Queue queue, Event event) override {
    called();
    Guard guard(Lock);
    ++Lines[queue].waits;
    auto record = Records.find(event);
    if (record == Records.end())
      return {};
    return add(queue, [this, record = record->second] {
      return runUpTo(record.queue, record.number);
    });
  }
  StatusOr<bool> queryEventImpl(Event event) override {
    Guard guard(Lock);
    auto record = Records.find(event);
    return record == Records.end() ||
           Lines[record->second.queue].done >= record->second.number;
  }

private:
  Status synchronizeEventImpl(Event event) override {
    called();
    Guard guard(Lock);
    auto record = Records.find(event);
    return record == Records.end()
               ? Status()
               : runUpTo(record->second.queue, record->second.number);
  }
  Status copyImpl(void *to, const void *from, size_t bytes, CopyKind kind,
                  Queue queue) override {
    called();
    Guard guard(Lock);
    DRAGON_TRY(add(
        queue,
        [this, to, from, bytes, kind, queue] {
          return inner().copy(to, from, bytes, kind, queue);
        },
        rangeOf(to, bytes), rangeOf(from, bytes)));
    auto reached = [this](const void *memory) {
      return inBuffer(memory) || isPinned(memory) ||
             !inner().hostReaches(memory);
    };
    if (!reached(to) || !reached(from))
      return runUpTo(queue, queued(queue));
    ++Late;
    return {};
  }
  Status fillImpl(void *to, uint32_t value, unsigned width, size_t count,
                  Queue queue) override {
    called();
    Guard guard(Lock);
    return add(
        queue,
        [this, to, value, width, count, queue] {
          return inner().fill(to, value, width, count, queue);
        },
        rangeOf(to, width * count));
  }
  Status poisonImpl(uintptr_t va, size_t bytes, Queue queue) override {
    Guard guard(Lock);
    DRAGON_TRY(runUpTo(queue, queued(queue)));
    return inner().poison(va, bytes, queue);
  }
  Status launchImpl(const LaunchRequest &request) override {
    called();
    Guard guard(Lock);
    order(request.queue);
    if (!putsOff(request)) {
      DRAGON_TRY(runUpTo(request.queue, queued(request.queue)));
      return inner().launch(request);
    }
    struct Copied {
      LaunchRequest request;
      std::vector<std::vector<uint64_t>> words; ///< of each argument
      std::vector<void *> args;
      std::vector<AddressRange> touched;
    };
    auto copied = std::make_shared<Copied>();
    copied->request = request;
    copied->touched.assign(request.touched.begin(), request.touched.end());
    copied->request.touched = copied->touched;
    for (uint32_t i = 0; i < request.numArgs; ++i) {
      // Without their sizes they must be words.
      const size_t bytes =
          request.argSizes ? request.argSizes[i] : sizeof(uint64_t);
      auto &words = copied->words.emplace_back((bytes + 7) / sizeof(uint64_t));
      std::memcpy(words.data(), request.args[i], bytes);
      copied->args.push_back(words.data());
    }
    copied->request.args = copied->args.data();
    Step step{[this, copied] { return inner().launch(copied->request); },
              copied->touched, true};
    Lines[request.queue].steps.push_back(std::move(step));
    size_t queues = 0;
    for (const auto &[queue, line] : Lines)
      queues += std::any_of(line.steps.begin(), line.steps.end(),
                            [](const Step &one) { return one.isLaunch; });
    QueuesAtATime = std::max(QueuesAtATime, queues);
    return {};
  }
  bool acceptsImpl(const LaunchRequest &request) override {
    return inner().accepts(request);
  }

  std::map<uintptr_t, uintptr_t> Reserved, Pinned; ///< begin, end
  unsigned Misused = 0;
  unsigned Late = 0;
  const bool LateLaunches;
  size_t QueuesAtATime = 0;
  std::unique_ptr<Device> *ReturnTo = nullptr;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_DEVICE_LATEDEVICE_H
