//===- Timeline.cpp - when a device did what was queued -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/Timeline.h"

#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <fmt/format.h>

namespace dragon {

namespace {

/// Copies that are large enough to tell the link's rate.
constexpr uint64_t LargeCopy = 4 << 20;
/// All of the first ones are watched, then one in so many.
constexpr uint32_t FirstWatched = 16;
constexpr uint32_t WatchedOneIn = 32;
/// What a new rate counts; copies the other way make one slower for a while.
constexpr double NewShare = 0.25;
/// Work that is watched at once, with a trace and without.
constexpr size_t MostPending = 4096;
constexpr size_t MostUntraced = 64;

bool isAcrossLink(Timeline::Lane lane) {
  return lane == Timeline::Lane::ToDevice || lane == Timeline::Lane::FromDevice;
}

/// By lane: what it is called, and what is in it.
struct {
  const char *name, *zone;
} constexpr Names[] = {{"copies to the device", "to the device"},
                       {"copies from the device", "from the device"},
                       {"copies within the device", "within the device"},
                       {"kernels", "kernel"}};

} // namespace

std::optional<Event> Timeline::takeEvent() {
  if (!Free.empty()) {
    Event event = Free.back();
    Free.pop_back();
    return event;
  }
  auto event = Dev.createEvent(/*timing=*/true);
  if (!event.ok())
    return std::nullopt;
  return *event;
}

std::optional<Timeline::Watch> Timeline::begin(Lane lane, Queue queue,
                                               uint64_t bytes) {
  const bool traced = detail::tracing.load(std::memory_order_relaxed);
  if (!Dev.caps().asynchronous)
    return traced ? std::optional<Watch>({nullptr, traceClock()})
                  : std::nullopt;
  if (!traced) {
    if (!Dev.caps().hasLink || !isAcrossLink(lane) || bytes < LargeCopy)
      return std::nullopt;
    const uint32_t seen = Seen[unsigned(lane)].fetch_add(1);
    if (seen >= FirstWatched && seen % WatchedOneIn)
      return std::nullopt;
  }
  Watch watch;
  if (traced)
    watch.alone = std::unique_lock(Alone);
  std::lock_guard guard(Lock);
  if (Finished)
    return std::nullopt;
  const size_t most = traced ? MostPending : MostUntraced;
  if (Work.size() >= most)
    collectLocked(/*wait=*/false);
  if (Work.size() >= most || (traced && !hasOrigin()))
    return std::nullopt;
  std::optional<Event> event = takeEvent();
  if (!event)
    return std::nullopt;
  if (!Dev.record(*event, queue).ok()) {
    Free.push_back(*event);
    return std::nullopt;
  }
  watch.started = *event;
  return watch;
}

void Timeline::end(Watch watch, Lane lane, Queue queue, uint64_t bytes,
                   std::string detail) {
  if (!watch.started) {
    const uint64_t now = traceClock();
    std::lock_guard guard(Lock);
    show(lane, queue, watch.began, now, bytes, std::move(detail));
    return;
  }
  std::lock_guard guard(Lock);
  std::optional<Event> event = takeEvent();
  if (event && !Dev.record(*event, queue).ok()) {
    Free.push_back(*event);
    event.reset();
  }
  if (event)
    Work.push_back(
        {watch.started, *event, lane, queue, bytes, std::move(detail)});
  else
    Free.push_back(watch.started);
}

/// Events tell times between each other only: one of them is at a known time.
bool Timeline::hasOrigin() {
  if (Origin)
    return true;
  std::optional<Event> event = takeEvent();
  if (!event)
    return false;
  // On a queue of its own nothing is in front of it.
  auto queue = Dev.createQueue(Device::NonBlocking, 0);
  if (queue.ok()) {
    if (Dev.record(*event, *queue).ok() && Dev.synchronizeEvent(*event).ok()) {
      OriginClock = traceClock();
      Origin = *event;
    }
    Dev.destroyQueue(*queue).ignore();
  }
  if (!Origin)
    Free.push_back(*event);
  return Origin != nullptr;
}

void Timeline::missed(const Status &why) {
  if (Missed++ == 0)
    WhyMissed = why.message();
}

void Timeline::take(const Pending &pending) {
  auto took = Dev.elapsedMilliseconds(pending.started, pending.ended);
  if (!took.ok()) {
    missed(took.takeStatus());
    return;
  }
  measure(pending.lane, pending.bytes, double(*took) / 1e3);
  if (!detail::tracing.load(std::memory_order_relaxed) || !Origin)
    return;
  auto since = Dev.elapsedMilliseconds(Origin, pending.started);
  if (!since.ok()) {
    missed(since.takeStatus());
    return;
  }
  const uint64_t begin = OriginClock + uint64_t(int64_t(double(*since) * 1e6));
  show(pending.lane, pending.queue, begin,
       begin + uint64_t(double(*took) * 1e6), pending.bytes, pending.detail);
}

void Timeline::collectLocked(bool wait) {
  // Queues overtake each other: what has not ended does not hold up the rest.
  std::deque<Pending> left;
  for (Pending &pending : Work) {
    auto ended = StatusOr<bool>(true);
    if (wait)
      Dev.synchronizeEvent(pending.ended).ignore();
    else
      ended = Dev.queryEvent(pending.ended);
    if (ended.ok() && !*ended) {
      left.push_back(std::move(pending));
      continue;
    }
    if (ended.ok())
      take(pending);
    else
      missed(ended.takeStatus());
    Free.push_back(pending.started);
    Free.push_back(pending.ended);
  }
  Work = std::move(left);
}

void Timeline::collect() {
  std::lock_guard guard(Lock);
  collectLocked(/*wait=*/false);
}

void Timeline::finish() {
  std::lock_guard guard(Lock);
  if (std::exchange(Finished, true))
    return;
  collectLocked(/*wait=*/true);
  if (Missed)
    log(LogLevel::Info,
        "when {} copies and launches were done is not known: {}", Missed,
        WhyMissed);
  if (Origin)
    Free.push_back(std::exchange(Origin, nullptr));
  for (Event event : Free)
    Dev.destroyEvent(event).ignore();
  Free.clear();
}

void Timeline::measure(Lane lane, uint64_t bytes, double seconds) {
  if (!Dev.caps().hasLink || !isAcrossLink(lane) || bytes < LargeCopy ||
      seconds <= 0)
    return;
  std::atomic<double> &rate = Rates[unsigned(lane)];
  const double now = double(bytes) / seconds;
  const double before = rate.load(std::memory_order_relaxed);
  rate.store(before == 0 ? now : before + NewShare * (now - before),
             std::memory_order_relaxed);
}

double Timeline::rate(Lane lane) const {
  return isAcrossLink(lane)
             ? Rates[unsigned(lane)].load(std::memory_order_relaxed)
             : 0;
}

void Timeline::show(Lane lane, Queue queue, uint64_t begin, uint64_t end,
                    uint64_t bytes, std::string detail) {
  const auto &[name, zone] = Names[unsigned(lane)];
  const auto [known, isNew] =
      Lanes.try_emplace({lane, queue}, unsigned(Lanes.size()));
  if (isNew)
    nameTraceLane(known->second,
                  queue ? fmt::format("{}, queue {}", name, known->second)
                        : name);
  recordInLane(known->second, zone, begin, end, bytes, std::move(detail));
}

} // namespace dragon
