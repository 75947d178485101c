//===- MemoryHints.cpp - hints on where managed memory is wanted ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cudaMemPrefetchAsync, cudaMemAdvise, cudaMemDiscardBatchAsync and their kin.
// CUDA takes them for managed memory only; here they work on every buffer. On a
// device whose driver moves managed memory they are the driver's.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/memory/PlainMemory.h"
#include "runtime/cudart/modules/Module.h"

#include <cstring>
#include <cuda_runtime_api.h>

using namespace dragon;

namespace {

bool toDevice(const cudaMemLocation &location) {
  return location.type == cudaMemLocationTypeDevice;
}

cudaError_t checkLocation(const cudaMemLocation &location) {
  switch (location.type) {
  case cudaMemLocationTypeDevice:
    return location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  case cudaMemLocationTypeHost:
  case cudaMemLocationTypeHostNuma:
  case cudaMemLocationTypeHostNumaCurrent:
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

/// Host code and the kernels of the cpu device work on the same variable: no
/// hint changes anything.
bool isManagedVariable(const void *pointer, size_t bytes) {
  return modules().isManagedOnCpu(reinterpret_cast<uintptr_t>(pointer), bytes);
}

/// The range must lie in one buffer.
Result checkRange(Front &front, const void *pointer, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  auto buffer = front.runtime.buffers().find(address);
  if (!buffer || !bytes || bytes > buffer->bytes - (address - buffer->base))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

Result prefetch(Front &front, const void *pointer, size_t bytes,
                const cudaMemLocation &location, cudaStream_t stream) {
  if (cudaError_t error = checkLocation(location))
    return error;
  if (isManagedVariable(pointer, bytes))
    return cudaSuccess;
  DRAGON_CHECK(checkRange(front, pointer, bytes));
  waitForHostFunctions(front, stream);
  // Towards the host there is little to gain: chunks come when touched.
  if (!toDevice(location))
    return front.runtime.buffers().prefetchToHost(
        reinterpret_cast<uintptr_t>(pointer), bytes, front.queue(stream));
  return front.runtime.buffers().prefetch(reinterpret_cast<uintptr_t>(pointer),
                                          bytes, front.queue(stream));
}

Result discard(Front &front, void *pointer, size_t bytes, cudaStream_t stream) {
  if (isManagedVariable(pointer, bytes))
    return cudaSuccess;
  DRAGON_CHECK(checkRange(front, pointer, bytes));
  waitForHostFunctions(front, stream);
  return front.runtime.buffers().discard(reinterpret_cast<uintptr_t>(pointer),
                                         bytes, front.queue(stream));
}

/// The driver moves it.
bool isDrivers(Front &front, const void *pointer) {
  auto buffer =
      front.runtime.buffers().find(reinterpret_cast<uintptr_t>(pointer));
  return buffer && buffer->driverMoved;
}

Result adviseDriver(Front &front, const void *pointer, size_t bytes,
                    cudaMemoryAdvise advice, const cudaMemLocation &location) {
  auto advise = [&](Advice what) -> Result {
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    return front.device.advise({begin, begin + bytes}, what);
  };
  const bool device = toDevice(location);
  switch (advice) {
  case cudaMemAdviseSetReadMostly:
    return advise(Advice::ReadMostly);
  case cudaMemAdviseUnsetReadMostly:
    return advise(Advice::NotReadMostly);
  case cudaMemAdviseSetPreferredLocation:
    return advise(device ? Advice::PreferDevice : Advice::PreferHost);
  case cudaMemAdviseUnsetPreferredLocation:
    return advise(Advice::PreferNone);
  case cudaMemAdviseSetAccessedBy:
    return advise(device ? Advice::AccessedByDevice : Advice::AccessedByHost);
  case cudaMemAdviseUnsetAccessedBy:
    return advise(device ? Advice::NotAccessedByDevice
                         : Advice::NotAccessedByHost);
  }
  return cudaErrorInvalidValue;
}

/// The location of operation `i` of a batch: that of the last index <= i.
struct BatchLocations {
  const cudaMemLocation *locations;
  const size_t *firsts;
  size_t count;

  Result check(size_t operations) const {
    if (!locations || !firsts || !count || count > operations || firsts[0] != 0)
      return cudaErrorInvalidValue;
    for (size_t i = 1; i < count; ++i)
      if (firsts[i] <= firsts[i - 1] || firsts[i] >= operations)
        return cudaErrorInvalidValue;
    return cudaSuccess;
  }
  const cudaMemLocation &of(size_t operation) const {
    size_t i = count - 1;
    while (firsts[i] > operation)
      --i;
    return locations[i];
  }
};

cudaError_t prefetchBatch(void **pointers, size_t *sizes, size_t count,
                          const BatchLocations &locations,
                          unsigned long long flags, cudaStream_t stream,
                          bool discardFirst) {
  return withDevice([&](Front &front) -> Result {
    if (!pointers || !sizes || !count || flags)
      return cudaErrorInvalidValue;
    DRAGON_CHECK(locations.check(count));
    for (size_t i = 0; i < count; ++i) {
      if (discardFirst)
        DRAGON_CHECK(discard(front, pointers[i], sizes[i], stream));
      DRAGON_CHECK(
          prefetch(front, pointers[i], sizes[i], locations.of(i), stream));
    }
    return cudaSuccess;
  });
}

} // namespace

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                 cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (flags)
      return cudaErrorInvalidValue;
    return prefetch(front, pointer, bytes, location, stream);
  });
}

cudaError_t cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes,
                                      size_t count, cudaMemLocation *locations,
                                      size_t *firsts, size_t locationCount,
                                      unsigned long long flags,
                                      cudaStream_t stream) {
  return prefetchBatch(pointers, sizes, count,
                       {locations, firsts, locationCount}, flags, stream,
                       false);
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(
    void **pointers, size_t *sizes, size_t count, cudaMemLocation *locations,
    size_t *firsts, size_t locationCount, unsigned long long flags,
    cudaStream_t stream) {
  return prefetchBatch(pointers, sizes, count,
                       {locations, firsts, locationCount}, flags, stream, true);
}

cudaError_t cudaMemDiscardBatchAsync(void **pointers, size_t *sizes,
                                     size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (!pointers || !sizes || !count || flags)
      return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      DRAGON_CHECK(discard(front, pointers[i], sizes[i], stream));
    return cudaSuccess;
  });
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes,
                          cudaMemoryAdvise advice, cudaMemLocation location) {
  return withDevice([&](Front &front) -> Result {
    const bool variable = isManagedVariable(pointer, bytes);
    if (!variable)
      DRAGON_CHECK(checkRange(front, pointer, bytes));
    const bool drivers = isDrivers(front, pointer);
    auto advise = [&](dragon_advice what) -> Result {
      if (variable)
        return cudaSuccess;
      if (drivers)
        return adviseDriver(front, pointer, bytes, advice, location);
      return front.runtime.buffers().advise(
          reinterpret_cast<uintptr_t>(pointer), bytes, what);
    };
    switch (advice) {
    case cudaMemAdviseSetReadMostly:
      return advise(DRAGON_ADVISE_READ_MOSTLY);
    case cudaMemAdviseUnsetReadMostly:
    case cudaMemAdviseUnsetPreferredLocation:
      return advise(DRAGON_ADVISE_NORMAL);
    case cudaMemAdviseSetPreferredLocation:
      if (cudaError_t error = checkLocation(location))
        return error;
      return advise(toDevice(location) ? DRAGON_ADVISE_KEEP_DEVICE
                                       : DRAGON_ADVISE_KEEP_HOST);
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
      if (location.type != cudaMemLocationTypeDevice &&
          location.type != cudaMemLocationTypeHost)
        return cudaErrorInvalidValue;
      if (cudaError_t error = checkLocation(location))
        return error;
      if (drivers)
        return adviseDriver(front, pointer, bytes, advice, location);
      return cudaSuccess; // who accesses it is seen anyway
    }
    return cudaErrorInvalidValue;
  });
}

// Advice is given to the runtime and not kept by range: attributes answer as
// for memory that nobody advised on.
cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataBytes,
                                     cudaMemRangeAttribute attribute,
                                     const void *pointer, size_t bytes) {
  return withDevice([&](Front &front) -> Result {
    if (!isManagedVariable(pointer, bytes))
      DRAGON_CHECK(checkRange(front, pointer, bytes));
    if (!data || !dataBytes)
      return cudaErrorInvalidValue;
    if (isDrivers(front, pointer))
      return DRAGON_NVIDIA(cudaMemRangeGetAttribute, data, dataBytes, attribute,
                           pointer, bytes);
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
    case cudaMemRangeAttributePreferredLocationType:
    case cudaMemRangeAttributePreferredLocationId:
    case cudaMemRangeAttributeLastPrefetchLocationType:
    case cudaMemRangeAttributeLastPrefetchLocationId:
      std::memset(data, 0, dataBytes);
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributeLastPrefetchLocation:
    case cudaMemRangeAttributeAccessedBy:
      if (dataBytes % sizeof(int))
        return cudaErrorInvalidValue;
      for (size_t i = 0; i < dataBytes / sizeof(int); ++i)
        static_cast<int *>(data)[i] = cudaInvalidDeviceId;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataBytes,
                                      cudaMemRangeAttribute *attributes,
                                      size_t count, const void *pointer,
                                      size_t bytes) {
  if (!data || !dataBytes || !attributes || !count)
    return leave(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i)
    if (cudaError_t error = cudaMemRangeGetAttribute(
            data[i], dataBytes[i], attributes[i], pointer, bytes))
      return error;
  return cudaSuccess;
}

} // extern "C"
