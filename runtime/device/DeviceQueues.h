//===- DeviceQueues.h - queues and events of a device -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device does queued work in the order of its queue. Events order queues
// among each other, and tell the host how far a queue is.
//
// Threads: every call may be made from any thread at any time.
//
// Source: streams and events of the CUDA driver API
// (cuStreamCreateWithPriority, cuEventRecord, cuStreamWaitEvent).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DEVICEQUEUES_H
#define DRAGON_RUNTIME_DEVICE_DEVICEQUEUES_H

#include "runtime/base/Status.h"

#include <atomic>

namespace dragon {

using Queue = void *; ///< CUstream; null = the legacy default stream
using Event = void *; ///< CUevent

class DeviceQueues {
public:
  DeviceQueues(const DeviceQueues &) = delete;
  DeviceQueues &operator=(const DeviceQueues &) = delete;

  /// A queue that the legacy default stream does not wait for:
  /// CU_STREAM_NON_BLOCKING, cudaStreamNonBlocking.
  static constexpr unsigned NonBlocking = 1;
  /// CU_STREAM_PER_THREAD, cudaStreamPerThread: the calling thread's own queue,
  /// another one in each thread.
  static inline const Queue PerThreadQueue = reinterpret_cast<Queue>(2);
  StatusOr<Queue> createQueue(unsigned flags, int priority);
  Status destroyQueue(Queue queue);
  Status synchronize(Queue queue);
  /// True if all queued work is done.
  StatusOr<bool> query(Queue queue);
  Status synchronizeAll();
  StatusOr<Event> createEvent(bool timing);
  Status destroyEvent(Event event);
  Status record(Event event, Queue queue);
  Status wait(Queue queue, Event event); ///< later work waits for the event
  StatusOr<bool> queryEvent(Event event);
  Status synchronizeEvent(Event event);
  StatusOr<float> elapsedMilliseconds(Event start, Event end);
  /// A thread is in a call that waits for queued work.
  bool isWaitedFor() const { return Waits.load(std::memory_order_relaxed); }

protected:
  DeviceQueues() = default;
  ~DeviceQueues() = default;

private:
  class Wait {
  public:
    explicit Wait(std::atomic<unsigned> &waits) : Waits(waits) { ++Waits; }
    ~Wait() { --Waits; }

  private:
    std::atomic<unsigned> &Waits;
  };
  std::atomic<unsigned> Waits{0};

  virtual StatusOr<Queue> createQueueImpl(unsigned flags, int priority) = 0;
  virtual Status destroyQueueImpl(Queue queue) = 0;
  virtual Status synchronizeImpl(Queue queue) = 0;
  virtual StatusOr<bool> queryImpl(Queue queue) = 0;
  virtual Status synchronizeAllImpl() = 0;
  virtual StatusOr<Event> createEventImpl(bool timing) = 0;
  virtual Status destroyEventImpl(Event event) = 0;
  virtual Status recordImpl(Event event, Queue queue) = 0;
  virtual Status waitImpl(Queue queue, Event event) = 0;
  virtual StatusOr<bool> queryEventImpl(Event event) = 0;
  virtual Status synchronizeEventImpl(Event event) = 0;
  virtual StatusOr<float> elapsedMillisecondsImpl(Event start, Event end) = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DEVICEQUEUES_H
