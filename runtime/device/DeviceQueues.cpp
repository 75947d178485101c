//===- DeviceQueues.cpp - checks of queues and events ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/DeviceQueues.h"

namespace dragon {

StatusOr<Queue> DeviceQueues::createQueue(unsigned flags, int priority) {
  return createQueueImpl(flags, priority);
}

Status DeviceQueues::destroyQueue(Queue queue) {
  if (!queue)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "destroyQueue: the default queue cannot be destroyed");
  return destroyQueueImpl(queue);
}

Status DeviceQueues::synchronize(Queue queue) {
  const Wait wait(Waits);
  return synchronizeImpl(queue);
}

StatusOr<bool> DeviceQueues::query(Queue queue) { return queryImpl(queue); }

Status DeviceQueues::synchronizeAll() {
  const Wait wait(Waits);
  return synchronizeAllImpl();
}

namespace {
Status checkEvent(const char *call, Event event) {
  if (!event)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "{}: null event", call);
  return {};
}
} // namespace

StatusOr<Event> DeviceQueues::createEvent(bool timing) {
  return createEventImpl(timing);
}

Status DeviceQueues::destroyEvent(Event event) {
  DRAGON_TRY(checkEvent("destroyEvent", event));
  return destroyEventImpl(event);
}

Status DeviceQueues::record(Event event, Queue queue) {
  DRAGON_TRY(checkEvent("record", event));
  return recordImpl(event, queue);
}

Status DeviceQueues::wait(Queue queue, Event event) {
  DRAGON_TRY(checkEvent("wait", event));
  return waitImpl(queue, event);
}

StatusOr<bool> DeviceQueues::queryEvent(Event event) {
  DRAGON_TRY(checkEvent("queryEvent", event));
  return queryEventImpl(event);
}

Status DeviceQueues::synchronizeEvent(Event event) {
  DRAGON_TRY(checkEvent("synchronizeEvent", event));
  const Wait wait(Waits);
  return synchronizeEventImpl(event);
}

StatusOr<float> DeviceQueues::elapsedMilliseconds(Event start, Event end) {
  DRAGON_TRY(checkEvent("elapsedMilliseconds", start));
  DRAGON_TRY(checkEvent("elapsedMilliseconds", end));
  return elapsedMillisecondsImpl(start, end);
}

} // namespace dragon
