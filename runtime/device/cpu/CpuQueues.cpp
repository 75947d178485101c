//===- CpuQueues.cpp - queues and events of the cpu device ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/PerThread.h"
#include "runtime/device/cpu/CpuDevice.h"

#include <ctime>

namespace dragon {

namespace {

constexpr uintptr_t LegacyHandle = 1; // cudaStreamLegacy

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u +
         static_cast<uint64_t>(time.tv_nsec);
}

} // namespace

CpuDevice::Turn::Turn(CpuDevice &device, std::shared_ptr<QueueState> queue,
                      bool legacy)
    : Device(device), Held(std::move(queue)), Legacy(legacy) {
  if (Legacy)
    Device.LegacyOrder.lock();
  else if (Held->blocking)
    Device.LegacyOrder.lock_shared();
  Held->lock.lock();
}

CpuDevice::Turn::~Turn() {
  Held->lock.unlock();
  if (Legacy)
    Device.LegacyOrder.unlock();
  else if (Held->blocking)
    Device.LegacyOrder.unlock_shared();
}

StatusOr<std::shared_ptr<CpuDevice::QueueState>>
CpuDevice::findQueue(const char *call, Queue queue) {
  uintptr_t handle = reinterpret_cast<uintptr_t>(queue);
  if (handle == 0 || handle == LegacyHandle)
    return LegacyQueue;
  if (queue == PerThreadQueue) {
    auto &own = PerThread<std::shared_ptr<QueueState>, CpuDevice>::get();
    if (!own)
      own = std::make_shared<QueueState>();
    return own;
  }
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Queues.find(queue);
  if (it == Queues.end())
    return Status::native(DRAGON_ERROR_INVALID_ARGUMENT, 400,
                          "{}: {:#x} is not a queue of this device", call,
                          handle);
  return it->second;
}

StatusOr<std::shared_ptr<CpuDevice::EventState>>
CpuDevice::findEvent(const char *call, Event event) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Events.find(event);
  if (it == Events.end())
    return Status::native(DRAGON_ERROR_INVALID_ARGUMENT, 400,
                          "{}: {:#x} is not an event of this device", call,
                          reinterpret_cast<uintptr_t>(event));
  return it->second;
}

Status CpuDevice::checkAlive() {
  int code = FailedWith.load();
  if (!code)
    return {};
  std::lock_guard<std::mutex> guard(Lock);
  return Status::native(DRAGON_ERROR_DEVICE, code,
                        "the device stopped earlier: {}", FailedKernel);
}

StatusOr<Queue> CpuDevice::createQueueImpl(unsigned flags, int) {
  auto state = std::make_shared<QueueState>();
  state->blocking = (flags & 1) == 0; // CU_STREAM_NON_BLOCKING
  Queue queue = state.get();
  std::lock_guard<std::mutex> guard(Lock);
  Queues[queue] = std::move(state);
  return queue;
}

Status CpuDevice::destroyQueueImpl(Queue queue) {
  DRAGON_ASSIGN(auto state, findQueue("destroyQueue", queue));
  std::lock_guard<std::mutex> guard(Lock);
  Queues.erase(queue);
  return {};
}

Status CpuDevice::synchronizeImpl(Queue queue) {
  DRAGON_ASSIGN(auto state, findQueue("synchronize", queue));
  {
    Turn turn(*this, state, state == LegacyQueue);
  }
  return checkAlive();
}

StatusOr<bool> CpuDevice::queryImpl(Queue queue) {
  DRAGON_ASSIGN(auto state, findQueue("query", queue));
  DRAGON_TRY(checkAlive());
  // The legacy queue is busy while any blocking queue is.
  if (state == LegacyQueue) {
    std::unique_lock<std::shared_mutex> order(LegacyOrder, std::try_to_lock);
    return order.owns_lock();
  }
  std::unique_lock<std::recursive_mutex> turn(state->lock, std::try_to_lock);
  return turn.owns_lock();
}

Status CpuDevice::synchronizeAllImpl() {
  std::vector<std::shared_ptr<QueueState>> queues;
  {
    std::lock_guard<std::mutex> guard(Lock);
    for (const auto &entry : Queues)
      queues.push_back(entry.second);
  }
  {
    Turn legacy(*this, LegacyQueue, true);
  }
  for (const auto &queue : queues)
    if (!queue->blocking)
      Turn turn(*this, queue, false);
  return checkAlive();
}

StatusOr<Event> CpuDevice::createEventImpl(bool timing) {
  auto state = std::make_shared<EventState>();
  state->timing = timing;
  Event event = state.get();
  std::lock_guard<std::mutex> guard(Lock);
  Events[event] = std::move(state);
  return event;
}

Status CpuDevice::destroyEventImpl(Event event) {
  DRAGON_ASSIGN(auto state, findEvent("destroyEvent", event));
  std::lock_guard<std::mutex> guard(Lock);
  Events.erase(event);
  return {};
}

Status CpuDevice::recordImpl(Event event, Queue queue) {
  DRAGON_ASSIGN(auto state, findEvent("record", event));
  DRAGON_ASSIGN(auto queueState, findQueue("record", queue));
  DRAGON_TRY(checkAlive());
  Turn turn(*this, queueState, queueState == LegacyQueue);
  std::lock_guard<std::mutex> guard(state->lock);
  state->recorded = true;
  state->nanoseconds = now();
  return {};
}

Status CpuDevice::waitImpl(Queue queue, Event event) {
  // What was recorded is done.
  DRAGON_ASSIGN(auto state, findEvent("wait", event));
  DRAGON_ASSIGN(auto queueState, findQueue("wait", queue));
  return checkAlive();
}

StatusOr<bool> CpuDevice::queryEventImpl(Event event) {
  DRAGON_ASSIGN(auto state, findEvent("queryEvent", event));
  DRAGON_TRY(checkAlive());
  return true;
}

Status CpuDevice::synchronizeEventImpl(Event event) {
  DRAGON_ASSIGN(auto state, findEvent("synchronizeEvent", event));
  return checkAlive();
}

StatusOr<float> CpuDevice::elapsedMillisecondsImpl(Event start, Event end) {
  DRAGON_ASSIGN(auto first, findEvent("elapsedMilliseconds", start));
  DRAGON_ASSIGN(auto second, findEvent("elapsedMilliseconds", end));
  uint64_t times[2];
  unsigned i = 0;
  for (EventState *state : {first.get(), second.get()}) {
    std::lock_guard<std::mutex> guard(state->lock);
    if (!state->timing || !state->recorded)
      return Status::native(
          DRAGON_ERROR_INVALID_ARGUMENT, 400,
          "elapsedMilliseconds: the {} event {}", i ? "second" : "first",
          state->timing ? "was never recorded" : "was created without timing");
    times[i++] = state->nanoseconds;
  }
  double nanoseconds =
      static_cast<double>(static_cast<int64_t>(times[1] - times[0]));
  return static_cast<float>(nanoseconds / 1e6);
}

} // namespace dragon
