//===- Devices.cpp - device management of the CUDA runtime API ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process has one device, number 0: on a machine with several GPUs the first
// that CUDA_VISIBLE_DEVICES leaves.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/devices/Devices.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/cudart/devices/DroppedMembers.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/front/Resets.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/memory/Memory.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/staging/Staging.h"
#include "runtime/cudart/streams/Stream.h"

#include <cstdio>
#include <cstring>
#include <cuda_runtime_api.h>
#include <mutex>
#include <optional>
#include <strings.h>

using namespace dragon;

namespace {
constexpr char CpuBusId[] = "0000:00:00.0";
std::atomic<unsigned> deviceFlags{cudaDeviceScheduleAuto};
std::atomic<int> cacheConfig{cudaFuncCachePreferNone};
std::atomic<size_t> limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

/// Those of device 0. Asked once: the driver takes half a millisecond for each
/// of the clock rates, and programs ask in loops.
Result gpuProperties(cudaDeviceProp &properties) {
  static std::mutex lock;
  static std::optional<cudaDeviceProp> known;
  std::lock_guard<std::mutex> guard(lock);
  if (!known) {
    cudaDeviceProp asked{};
    DRAGON_CHECK(DRAGON_NVIDIA(cudaGetDeviceProperties, &asked, 0));
    setDroppedMembers(asked, [&](cudaDeviceAttr attribute) {
      int value = 0;
      return DRAGON_NVIDIA(cudaDeviceGetAttribute, &value, attribute, 0) ==
                     cudaSuccess
                 ? value
                 : 0;
    });
    known = asked;
  }
  properties = *known;
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int *count) {
  return withDevice([&](Front &) -> Result {
    if (!count)
      return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return withDevice([&](Front &front) -> Result {
    if (device != 0)
      return cudaErrorInvalidDevice;
    return front.gpu ? DRAGON_NVIDIA(cudaSetDevice, device) : cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned flags, unsigned which) {
  return withDevice([&](Front &front) -> Result {
    if (device != 0)
      return cudaErrorInvalidDevice;
    return front.gpu ? DRAGON_NVIDIA(cudaInitDevice, device, flags, which)
                     : cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int *device) {
  return withDevice([&](Front &) -> Result {
    if (!device)
      return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
  return withDevice([&](Front &) -> Result {
    if (count > 0 && !devices)
      return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i)
      if (devices[i] != 0)
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *properties) {
  return withDevice([&](Front &) -> Result {
    if (!device || !properties)
      return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (flags & ~unsigned(cudaDeviceMask))
      return cudaErrorInvalidValue;
    deviceFlags = flags;
    return front.gpu ? DRAGON_NVIDIA(cudaSetDeviceFlags, flags) : cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  return withDevice([&](Front &front) -> Result {
    if (!flags)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaGetDeviceFlags, flags);
    *flags = deviceFlags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  return withDevice([&](Front &front) -> Result {
    if (!properties)
      return cudaErrorInvalidValue;
    if (device != 0)
      return cudaErrorInvalidDevice;
    if (!front.gpu) {
      *properties = cpuDeviceProperties(front);
      setDroppedMembers(*properties, [&](cudaDeviceAttr attribute) {
        int value = 0;
        (void)attributeOf(*properties, attribute, value);
        return value;
      });
      return cudaSuccess;
    }
    return gpuProperties(*properties);
  });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute,
                                   int device) {
  return withDevice([&](Front &front) -> Result {
    if (!value)
      return cudaErrorInvalidValue;
    if (device != 0)
      return cudaErrorInvalidDevice;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceGetAttribute, value, attribute, device);
    return attributeOf(cpuDeviceProperties(front), attribute, *value)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
  return withDevice([&](Front &front) -> Result {
    if (!text || length <= 0)
      return cudaErrorInvalidValue;
    if (device != 0)
      return cudaErrorInvalidDevice;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceGetPCIBusId, text, length, device);
    std::snprintf(text, size_t(length), "%s", CpuBusId);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
  return withDevice([&](Front &front) -> Result {
    if (!device || !text)
      return cudaErrorInvalidValue;
    if (front.gpu) {
      // Another GPU of the machine is not a device of this process.
      int found = 0;
      DRAGON_CHECK(DRAGON_NVIDIA(cudaDeviceGetByPCIBusId, &found, text));
      if (found != 0)
        return cudaErrorInvalidDevice;
    } else if (::strcasecmp(text, CpuBusId) != 0) {
      return cudaErrorInvalidDevice;
    }
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  return withDevice([&](Front &) -> Result {
    if (!can)
      return cudaErrorInvalidValue;
    if (device != 0 || peer != 0)
      return cudaErrorInvalidDevice;
    *can = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr, int, int) {
  // Two devices, of which there is one.
  return leave(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return leave(cudaErrorInvalidDevice); // there is no other device
}

cudaError_t cudaDeviceDisablePeerAccess(int) {
  return leave(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceSynchronize() {
  return withDevice([&](Front &front) -> Result {
    waitForAllHostFunctions(front);
    return front.device.synchronizeAll();
  });
}

// Frees what the program allocated, as CUDA does, and device variables begin
// anew. The device itself stays: the runtime's own memory and threads serve
// what comes after.
cudaError_t cudaDeviceReset() {
  return withDeviceAnyway([&](Front &front) -> Result {
    waitForAllHostFunctions(front);
    Status first = staging().buffers.reset();
    auto keep = [&first](Status status) {
      if (first.ok())
        first = std::move(status);
    };
    keep(front.runtime.quiesce());
    keep(freeAllForProgram(front));
    keep(destroyAllStreamsAndEvents(front));
    for (const PinnedRanges::Range &range :
         PinnedRanges::get().removeAllocated())
      keep(front.runtime.files().releaseProgramMemory(
          reinterpret_cast<const void *>(range.begin),
          range.end - range.begin));
    keep(pinnedMemory().freeAll(front.device));
    ++deviceResets;
    const Result variables = modules().restoreVariables(front);
    clearStickyError();
    lastError() = cudaSuccess;
    return first.ok() ? variables : Result(first);
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return withDevice([&](Front &front) -> Result {
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceSetLimit, limit, value);
    if (limit > cudaLimitPersistingL2CacheSize)
      return cudaErrorUnsupportedLimit;
    limits[limit] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  return withDevice([&](Front &front) -> Result {
    if (!value)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceGetLimit, value, limit);
    if (limit > cudaLimitPersistingL2CacheSize)
      return cudaErrorUnsupportedLimit;
    *value = limits[limit];
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return withDevice([&](Front &front) -> Result {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
      return cudaErrorInvalidValue;
    cacheConfig = config;
    return front.gpu ? DRAGON_NVIDIA(cudaDeviceSetCacheConfig, config)
                     : cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
  return withDevice([&](Front &front) -> Result {
    if (!config)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceGetCacheConfig, config);
    *config = cudaFuncCache(cacheConfig.load());
    return cudaSuccess;
  });
}

// Deprecated, and without effect on the GPUs that CUDA 13 knows; the width of
// the banks of shared memory is a hint.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return withDevice([&](Front &front) -> Result {
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceSetSharedMemConfig, config);
    return config >= cudaSharedMemBankSizeDefault &&
                   config <= cudaSharedMemBankSizeEightByte
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
  return withDevice([&](Front &front) -> Result {
    if (!config)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDeviceGetSharedMemConfig, config);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return withDevice([&](Front &front) -> Result {
    return front.gpu ? DRAGON_NVIDIA(cudaCtxResetPersistingL2Cache)
                     : cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int *version) {
  return withDevice([&](Front &front) -> Result {
    if (!version)
      return cudaErrorInvalidValue;
    if (front.gpu)
      return DRAGON_NVIDIA(cudaDriverGetVersion, version);
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  if (!version)
    return leave(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

// As in cuda_profiler_api.h, which not every toolkit has.
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

cudaError_t cudaProfilerStart() {
  return withDevice([&](Front &front) -> Result {
    return front.gpu ? DRAGON_NVIDIA(cudaProfilerStart) : cudaSuccess;
  });
}

cudaError_t cudaProfilerStop() {
  return withDevice([&](Front &front) -> Result {
    return front.gpu ? DRAGON_NVIDIA(cudaProfilerStop) : cudaSuccess;
  });
}

} // extern "C"
