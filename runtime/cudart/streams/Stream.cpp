//===- Stream.cpp - streams and events of the program ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/streams/Stream.h"

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/staging/Staging.h"

#include <cuda_runtime_api.h>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

using namespace dragon;

namespace {

struct StreamInfo {
  unsigned flags;
  int priority;
  unsigned long long id;
};
struct EventInfo {
  unsigned flags;
  bool recorded;
};

/// What the program created and has not destroyed.
template <typename Handle, typename Info> class Table {
public:
  void add(Handle handle, Info info) {
    std::lock_guard<std::mutex> guard(Lock);
    Entries[handle] = info;
  }
  std::optional<Info> find(Handle handle) {
    std::lock_guard<std::mutex> guard(Lock);
    auto it = Entries.find(handle);
    return it != Entries.end() ? std::optional<Info>(it->second) : std::nullopt;
  }
  template <typename Change> void change(Handle handle, Change &&change) {
    std::lock_guard<std::mutex> guard(Lock);
    auto it = Entries.find(handle);
    if (it != Entries.end())
      change(it->second);
  }
  bool remove(Handle handle) {
    std::lock_guard<std::mutex> guard(Lock);
    return Entries.erase(handle) != 0;
  }
  std::vector<Handle> takeAll() {
    std::lock_guard<std::mutex> guard(Lock);
    std::vector<Handle> all;
    all.reserve(Entries.size());
    for (auto &entry : Entries)
      all.push_back(entry.first);
    Entries.clear();
    return all;
  }

private:
  std::mutex Lock;
  std::unordered_map<Handle, Info> Entries;
};

Table<cudaStream_t, StreamInfo> &streams() {
  static auto *table = new Table<cudaStream_t, StreamInfo>;
  return *table;
}
Table<cudaEvent_t, EventInfo> &events() {
  static auto *table = new Table<cudaEvent_t, EventInfo>;
  return *table;
}

constexpr int LeastPriority = 0, GreatestPriority = -5;

bool isDefault(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

/// Handles that the program made up, or destroyed; on a GPU the driver knows.
bool unknownStream(Front &front, cudaStream_t stream) {
  return !front.gpu && !isDefault(stream) && !streams().find(stream);
}
bool unknownEvent(Front &front, cudaEvent_t event) {
  return !event || (!front.gpu && !events().find(event));
}

cudaError_t createStream(cudaStream_t *stream, unsigned flags, int priority) {
  return withDevice([&](Front &front) -> Result {
    if (!stream || (flags & ~unsigned(cudaStreamNonBlocking)))
      return cudaErrorInvalidValue;
    auto queue = front.device.createQueue(flags, priority);
    if (!queue.ok())
      return queue.takeStatus();
    static std::atomic<unsigned long long> nextId{16};
    auto handle = static_cast<cudaStream_t>(*queue);
    streams().add(handle, {flags, priority, nextId++});
    if (flags & cudaStreamNonBlocking)
      noteStream(handle, false);
    *stream = handle;
    return cudaSuccess;
  });
}

cudaError_t createEvent(cudaEvent_t *event, unsigned flags) {
  constexpr unsigned Known =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  return withDevice([&](Front &front) -> Result {
    if (!event || (flags & ~Known) ||
        ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)))
      return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess) {
      if (front.gpu)
        return DRAGON_NVIDIA(cudaEventCreateWithFlags, event, flags);
      printErrorOnce("events for other processes (cudaEventInterprocess) are "
                     "not supported on the cpu device");
      return cudaErrorNotSupported;
    }
    auto made = front.device.createEvent(!(flags & cudaEventDisableTiming));
    if (!made.ok())
      return made.takeStatus();
    auto handle = static_cast<cudaEvent_t>(*made);
    events().add(handle, {flags, false});
    *event = handle;
    return cudaSuccess;
  });
}

cudaError_t recordEvent(cudaEvent_t event, cudaStream_t stream,
                        unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (flags & ~unsigned(cudaEventRecordExternal))
      return cudaErrorInvalidValue;
    if (unknownEvent(front, event) || unknownStream(front, stream))
      return cudaErrorInvalidResourceHandle;
    if (isCapturedByNvidia(front, stream))
      return DRAGON_NVIDIA(cudaEventRecordWithFlags, event, stream, flags);
    if (capturing() && !front.gpu && isCaptured(stream))
      return flags & cudaEventRecordExternal
                 ? captureWork(stream, EventWork{event, true})
                 : captureRecord(stream, event);
    waitForHostFunctions(front, stream);
    if (Status status = front.device.record(event, front.queue(stream));
        !status.ok())
      return status;
    events().change(event, [](EventInfo &info) { info.recorded = true; });
    return cudaSuccess;
  });
}

} // namespace

namespace dragon {

Status destroyAllStreamsAndEvents(Front &front) {
  for (cudaEvent_t event : events().takeAll())
    DRAGON_TRY(front.device.destroyEvent(event));
  for (cudaStream_t stream : streams().takeAll()) {
    noteStream(stream, true);
    DRAGON_TRY(front.runtime.launches().destroyQueue(stream));
  }
  return {};
}

} // namespace dragon

extern "C" {

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return createStream(stream, cudaStreamDefault, LeastPriority);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return createStream(stream, flags, LeastPriority);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                         int priority) {
  // Out of range means the nearest one.
  priority = std::max(GreatestPriority, std::min(LeastPriority, priority));
  return createStream(stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (isDefault(stream))
      return cudaErrorInvalidResourceHandle;
    if (unknownStream(front, stream))
      return cudaErrorInvalidResourceHandle;
    waitForOwnHostFunctions(front, stream);
    if (Status status = staging().buffers.streamEnds(front.queue(stream));
        !status.ok())
      return status;
    streams().remove(stream);
    noteStream(stream, true);
    return front.runtime.launches().destroyQueue(stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (unknownStream(front, stream))
      return cudaErrorInvalidResourceHandle;
    return synchronizeStream(front, stream);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (unknownStream(front, stream))
      return cudaErrorInvalidResourceHandle;
    if (!hostFunctionsDone(front, stream))
      return cudaErrorNotReady;
    auto done = front.device.query(front.queue(stream));
    if (!done.ok())
      return done.takeStatus();
    return *done ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (flags & ~unsigned(cudaEventWaitExternal))
      return cudaErrorInvalidValue;
    if (unknownEvent(front, event) || unknownStream(front, stream))
      return cudaErrorInvalidResourceHandle;
    // The event may bring the stream into the capture.
    if (capturing() && front.gpu)
      return DRAGON_NVIDIA(cudaStreamWaitEvent, stream, event, flags);
    if (capturing() && flags & cudaEventWaitExternal && isCaptured(stream))
      return captureWork(stream, EventWork{event, false});
    if (capturing() && captureWait(stream, event))
      return cudaSuccess;
    // An event that was never recorded is no obstacle.
    auto info = events().find(event);
    if (info && !info->recorded)
      return cudaSuccess;
    return front.device.wait(front.queue(stream), event);
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
  return withDevice([&](Front &front) -> Result {
    auto info = streams().find(stream);
    if (!flags)
      return cudaErrorInvalidValue;
    if (!info && !isDefault(stream))
      return front.gpu ? DRAGON_NVIDIA(cudaStreamGetFlags, stream, flags)
                       : cudaErrorInvalidResourceHandle;
    *flags = info ? info->flags : cudaStreamDefault;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
  return withDevice([&](Front &front) -> Result {
    auto info = streams().find(stream);
    if (!priority)
      return cudaErrorInvalidValue;
    if (!info && !isDefault(stream))
      return front.gpu ? DRAGON_NVIDIA(cudaStreamGetPriority, stream, priority)
                       : cudaErrorInvalidResourceHandle;
    *priority = info ? info->priority : LeastPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
  return withDevice([&](Front &front) -> Result {
    if (!id)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaStreamGetId, stream, id);
    auto info = streams().find(stream);
    if (!info && !isDefault(stream))
      return cudaErrorInvalidResourceHandle;
    *id = info ? info->id : stream == cudaStreamPerThread ? 2 : 1;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
  return withDevice([&](Front &front) -> Result {
    if (!device)
      return cudaErrorInvalidValue;
    if (unknownStream(front, stream))
      return cudaErrorInvalidResourceHandle;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return withDevice([&](Front &front) -> Result {
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceGetStreamPriorityRange, least, greatest);
    if (least)
      *least = LeastPriority;
    if (greatest)
      *greatest = GreatestPriority;
    return cudaSuccess;
  });
}

// Which stream managed memory belongs to matters only to devices that cannot
// fault; the runtime follows every access itself.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t,
                                     unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (unknownStream(front, stream))
      return cudaErrorInvalidResourceHandle;
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const auto buffer = front.runtime.buffers().find(address);
    if (!(buffer ? buffer->hostAccessible
                 : modules().isManagedOnCpu(address, 1)) ||
        (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
         flags != cudaMemAttachSingle))
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return createEvent(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return createEvent(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return withDevice([&](Front &front) -> Result {
    if (unknownEvent(front, event))
      return cudaErrorInvalidResourceHandle;
    if (!events().remove(event))
      return DRAGON_NVIDIA(cudaEventDestroy, event);
    return front.device.destroyEvent(event);
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return recordEvent(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags) {
  return recordEvent(event, stream, flags);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return withDevice([&](Front &front) -> Result {
    if (unknownEvent(front, event))
      return cudaErrorInvalidResourceHandle;
    auto done = front.device.queryEvent(event);
    if (!done.ok())
      return done.takeStatus();
    return *done ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return withDevice([&](Front &front) -> Result {
    if (unknownEvent(front, event))
      return cudaErrorInvalidResourceHandle;
    return front.device.synchronizeEvent(event);
  });
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
  return withDevice([&](Front &front) -> Result {
    if (!milliseconds)
      return cudaErrorInvalidValue;
    for (cudaEvent_t event : {start, end}) {
      if (unknownEvent(front, event))
        return cudaErrorInvalidResourceHandle;
      auto info = events().find(event);
      if (info && (!info->recorded || (info->flags & cudaEventDisableTiming)))
        return cudaErrorInvalidResourceHandle;
      auto done = front.device.queryEvent(event);
      if (!done.ok())
        return done.takeStatus();
      if (!*done)
        return cudaErrorNotReady;
    }
    auto elapsed = front.device.elapsedMilliseconds(start, end);
    if (!elapsed.ok())
      return elapsed.takeStatus();
    *milliseconds = *elapsed;
    return cudaSuccess;
  });
}

} // extern "C"
