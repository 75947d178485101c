//===- Pools.cpp - memory pools of the CUDA runtime API -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All memory comes from the runtime's own pools, whatever pool is named: a pool
// is a name with attributes. Exporting pools to other processes is NVIDIA's and
// works on memory that NVIDIA allocated, of which there is none.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/memory/Memory.h"

#include <cuda_runtime_api.h>
#include <map>
#include <mutex>
#include <set>

using namespace dragon;

namespace {

struct Pool {
  std::mutex lock;
  std::map<int, uint64_t> wide; ///< attributes of 64 bits
  std::map<int, int> narrow;
};

std::mutex poolsLock;
std::set<Pool *> &pools() {
  static auto *set = new std::set<Pool *>;
  return *set;
}
Pool *defaultPool() {
  static Pool *pool = [] {
    auto *made = new Pool;
    std::lock_guard<std::mutex> guard(poolsLock);
    pools().insert(made);
    return made;
  }();
  return pool;
}
std::atomic<Pool *> currentPool{nullptr};

cudaMemPool_t handleOf(Pool *pool) {
  return reinterpret_cast<cudaMemPool_t>(pool);
}

/// Null for handles that are no pool.
Pool *poolOf(cudaMemPool_t handle) {
  auto *pool = reinterpret_cast<Pool *>(handle);
  defaultPool();
  std::lock_guard<std::mutex> guard(poolsLock);
  return pools().count(pool) ? pool : nullptr;
}

bool isNarrow(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies &&
         attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

cudaError_t givePool(cudaMemPool_t *handle, int device, Pool *pool) {
  return withDevice([&](Front &) -> Result {
    if (!handle)
      return cudaErrorInvalidValue;
    if (device != 0)
      return cudaErrorInvalidDevice;
    *handle = handleOf(pool ? pool : defaultPool());
    return cudaSuccess;
  });
}

} // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  return givePool(pool, device, nullptr);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  return givePool(pool, device, currentPool);
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool,
                                     cudaMemLocation *location,
                                     cudaMemAllocationType) {
  return givePool(pool,
                  location && location->type == cudaMemLocationTypeDevice
                      ? location->id
                      : -1,
                  nullptr);
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, cudaMemLocation *location,
                              cudaMemAllocationType) {
  return givePool(pool,
                  location && location->type == cudaMemLocationTypeDevice
                      ? location->id
                      : -1,
                  currentPool);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return withDevice([&](Front &) -> Result {
    Pool *pool = poolOf(handle);
    if (!pool)
      return cudaErrorInvalidValue;
    if (device != 0)
      return cudaErrorInvalidDevice;
    currentPool = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation *location, cudaMemAllocationType,
                              cudaMemPool_t handle) {
  if (!location || location->type != cudaMemLocationTypeDevice)
    return leave(cudaErrorInvalidValue);
  return cudaDeviceSetMemPool(location->id, handle);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *handle,
                              const cudaMemPoolProps *properties) {
  return withDevice([&](Front &) -> Result {
    if (!handle || !properties ||
        properties->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice ||
        properties->handleTypes != cudaMemHandleTypeNone) {
      printErrorOnce("cudaMemPoolCreate: only pools of device memory that is "
                     "not shared with other processes are supported");
      return cudaErrorNotSupported;
    }
    if (properties->location.id != 0)
      return cudaErrorInvalidDevice;
    auto *pool = new Pool;
    std::lock_guard<std::mutex> guard(poolsLock);
    pools().insert(pool);
    *handle = handleOf(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return withDevice([&](Front &) -> Result {
    Pool *pool = poolOf(handle);
    if (!pool || pool == defaultPool())
      return cudaErrorInvalidValue;
    Pool *expected = pool;
    currentPool.compare_exchange_strong(expected, nullptr);
    std::lock_guard<std::mutex> guard(poolsLock);
    pools().erase(pool);
    delete pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle,
                                    cudaMemPoolAttr attribute, void *value) {
  return withDevice([&](Front &) -> Result {
    Pool *pool = poolOf(handle);
    if (!pool || !value)
      return cudaErrorInvalidValue;
    std::lock_guard<std::mutex> guard(pool->lock);
    if (isNarrow(attribute))
      pool->narrow[attribute] = *static_cast<int *>(value);
    else
      pool->wide[attribute] = *static_cast<uint64_t *>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle,
                                    cudaMemPoolAttr attribute, void *value) {
  return withDevice([&](Front &) -> Result {
    Pool *pool = poolOf(handle);
    if (!pool || !value)
      return cudaErrorInvalidValue;
    std::lock_guard<std::mutex> guard(pool->lock);
    if (isNarrow(attribute)) {
      auto it = pool->narrow.find(attribute);
      *static_cast<int *>(value) = it != pool->narrow.end() ? it->second : 1;
    } else {
      auto it = pool->wide.find(attribute);
      *static_cast<uint64_t *>(value) = it != pool->wide.end() ? it->second : 0;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
  return withDevice([&](Front &front) -> Result {
    return poolOf(handle) ? Result(front.runtime.buffers().trim())
                          : Result(cudaErrorInvalidValue);
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle,
                                 const cudaMemAccessDesc *list, size_t count) {
  return withDevice([&](Front &) -> Result {
    if (!poolOf(handle) || (count && !list))
      return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (list[i].location.type != cudaMemLocationTypeDevice ||
          list[i].location.id != 0)
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags,
                                 cudaMemPool_t handle,
                                 cudaMemLocation *location) {
  return withDevice([&](Front &) -> Result {
    if (!flags || !location || !poolOf(handle))
      return cudaErrorInvalidValue;
    *flags = location->type == cudaMemLocationTypeDevice && location->id == 0
                 ? cudaMemAccessFlagsProtReadWrite
                 : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes,
                                    cudaMemPool_t handle, cudaStream_t stream) {
  return withDevice([&](Front &) -> Result {
    if (!poolOf(handle))
      return cudaErrorInvalidValue;
    return cudaMallocAsync(pointer, bytes, stream);
  });
}

} // extern "C"
