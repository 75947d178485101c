//===- Memory.cpp - allocations of the CUDA runtime API -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/memory/Memory.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/base/Rounding.h"
#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/libraries/DriverEntryPoints.h"
#include "runtime/cudart/libraries/ForeignCalls.h"
#include "runtime/cudart/memory/GraphMemory.h"
#include "runtime/cudart/memory/PlainMemory.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/trace/Log.h"

#include <cstdlib>
#include <cuda_runtime_api.h>
#include <unordered_set>
#include <vector>

using namespace dragon;

namespace dragon {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
std::mutex allocationsLock;
std::unordered_set<uintptr_t> &allocations() {
  static auto *set = new std::unordered_set<uintptr_t>;
  return *set;
}
constexpr size_t PitchAlignment = 512;

/// The stream of each thread has one name.
QueueOrder orderOf(Front &front, cudaStream_t stream) {
  return stream == cudaStreamPerThread ? QueueOrder() : front.queue(stream);
}
} // namespace

PinnedMemory &pinnedMemory() {
  static PinnedMemory *instance = new PinnedMemory;
  return *instance;
}

bool PinnedMemory::add(const PinnedRange &range) {
  std::lock_guard<std::mutex> guard(Lock);
  auto next = Ranges.lower_bound(range.begin);
  if (next != Ranges.end() && next->first < range.begin + range.bytes)
    return false;
  if (next != Ranges.begin()) {
    const PinnedRange &before = std::prev(next)->second;
    if (before.begin + before.bytes > range.begin)
      return false;
  }
  Ranges[range.begin] = range;
  return true;
}

std::optional<PinnedRange> PinnedMemory::find(uintptr_t address) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Ranges.upper_bound(address);
  if (it == Ranges.begin())
    return std::nullopt;
  const PinnedRange &range = std::prev(it)->second;
  if (address - range.begin >= range.bytes)
    return std::nullopt;
  return range;
}

std::optional<PinnedRange> PinnedMemory::take(uintptr_t begin,
                                              bool registered) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Ranges.find(begin);
  if (it == Ranges.end() || it->second.registered != registered)
    return std::nullopt;
  PinnedRange range = it->second;
  Ranges.erase(it);
  return range;
}

static Status freePinned(Device &device, const PinnedRange &range) {
  if (range.memory.id)
    return device.destroy(range.memory);
  std::free(reinterpret_cast<void *>(range.begin));
  return {};
}

Status PinnedMemory::freeAll(Device &device) {
  std::lock_guard<std::mutex> guard(Lock);
  Status first;
  for (auto &[begin, range] : Ranges)
    if (!range.registered)
      if (Status status = freePinned(device, range); first.ok())
        first = std::move(status);
  Ranges.clear();
  return first;
}

/// Of sizes whose pages take longer to make than it takes to ask for threads.
/// Nothing: it is the driver's to make.
static std::optional<PinnedRange> makePinned(Front &front, size_t bytes,
                                             unsigned flags) {
  constexpr size_t LargeBytes = 8 << 20;
  constexpr size_t Page = 4096, HugePage = 2 << 20;
  if (bytes > SIZE_MAX - HugePage)
    return std::nullopt;
  if (bytes >= LargeBytes && !(flags & cudaHostAllocWriteCombined))
    if (StatusOr<Physical> made =
            front.device.create(Place::Pinned, roundUp(bytes, HugePage));
        made.ok())
      return PinnedRange{reinterpret_cast<uintptr_t>(made->hostView), bytes,
                         flags, false, *made};
  void *memory =
      front.gpu ? nullptr : std::aligned_alloc(Page, roundUp(bytes, Page));
  if (!memory)
    return std::nullopt;
  return PinnedRange{reinterpret_cast<uintptr_t>(memory), bytes, flags, false};
}

static void noteAllocated(uintptr_t begin, size_t bytes, unsigned flags) {
  PinnedRanges::get().add({begin, begin + bytes,
                           flags & cudaHostAllocWriteCombined
                               ? PinnedRanges::Kind::WriteCombined
                               : PinnedRanges::Kind::Allocated});
}

bool isPageable(Front &front, const void *memory) {
  if (!front.gpu)
    return !pinnedMemory().find(reinterpret_cast<uintptr_t>(memory));
  front.runtime.files().unpinProgramMemory(memory, 1);
  cudaPointerAttributes known{};
  return DRAGON_NVIDIA(cudaPointerGetAttributes, &known, memory) ==
             cudaSuccess &&
         known.type == cudaMemoryTypeUnregistered;
}

bool isDeviceAddress(Front &front, uintptr_t address) {
  // On a GPU there is memory that we did not allocate (libraries, device
  // variables); the driver refuses what is none.
  if (front.gpu || front.runtime.buffers().find(address) ||
      pinnedMemory().find(address))
    return true;
  return modules().cpuVariableAt(address).has_value();
}

bool staysInBuffer(Front &front, uintptr_t address, size_t bytes) {
  auto buffer = front.runtime.buffers().find(address);
  return !buffer || bytes <= buffer->bytes - (address - buffer->base);
}

Result allocateForProgram(Front &front, void **pointer, size_t bytes,
                          const AllocateOptions &options) {
  watchForeignCalls(); // for libraries that have been opened since
  if (!pointer)
    return cudaErrorInvalidValue;
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  if (plainMemoryOnly(front) && !options.hostAccessible)
    return allocatePlain(pointer, bytes);
  AllocateOptions known = options;
  known.byData = modules().goByData();
  auto base = front.runtime.buffers().allocate(bytes, known);
  if (!base.ok()) {
    // Programs ask for more and more until they are refused: the code says it.
    Status status = base.takeStatus();
    if (status.code() == DRAGON_ERROR_OUT_OF_MEMORY) {
      log(LogLevel::Info, "cudaMalloc of {} bytes: {}", bytes,
          status.message());
      return cudaErrorMemoryAllocation;
    }
    return status;
  }
  {
    std::lock_guard<std::mutex> guard(allocationsLock);
    allocations().insert(*base);
  }
  *pointer = reinterpret_cast<void *>(*base);
  return buffersStayResident() ? keepResident(front, *pointer)
                               : Result(cudaSuccess);
}

Result freeForProgram(Front &front, void *pointer, QueueOrder order) {
  if (!pointer || freedForGraph(pointer))
    return cudaSuccess;
  auto base = reinterpret_cast<uintptr_t>(pointer);
  {
    std::lock_guard<std::mutex> guard(allocationsLock);
    if (!allocations().erase(base))
      return front.gpu ? Result(freePlain(pointer))
                       : Result(cudaErrorInvalidValue);
  }
  waitForAllHostFunctions(front);
  return front.runtime.buffers().free(base, order);
}

Status freeAllForProgram(Front &front) {
  forgetGraphMemory();
  std::vector<uintptr_t> all;
  {
    std::lock_guard<std::mutex> guard(allocationsLock);
    all.assign(allocations().begin(), allocations().end());
    allocations().clear();
  }
  for (uintptr_t base : all)
    DRAGON_TRY(front.runtime.buffers().free(base));
  return front.runtime.buffers().trim();
}

} // namespace dragon

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

extern "C" {

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  return withDevice([&](Front &front) {
    return allocateForProgram(front, pointer, bytes, {});
  });
}

cudaError_t cudaFree(void *pointer) {
  return withDevice(
      [&](Front &front) { return freeForProgram(front, pointer); });
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (!bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
      return cudaErrorInvalidValue;
    AllocateOptions options;
    options.hostAccessible = true;
    return allocateForProgram(front, pointer, bytes, options);
  });
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width,
                            size_t height) {
  return withDevice([&](Front &front) -> Result {
    if (!pitch || width > SIZE_MAX - PitchAlignment)
      return cudaErrorInvalidValue;
    size_t row = roundUp(width, PitchAlignment);
    size_t bytes;
    if (__builtin_mul_overflow(row, height, &bytes))
      return cudaErrorMemoryAllocation;
    DRAGON_CHECK(allocateForProgram(front, pointer, bytes, {}));
    *pitch = row;
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *pitched, cudaExtent extent) {
  return withDevice([&](Front &front) -> Result {
    if (!pitched || extent.width > SIZE_MAX - PitchAlignment)
      return cudaErrorInvalidValue;
    size_t row = roundUp(extent.width, PitchAlignment);
    size_t bytes;
    if (__builtin_mul_overflow(row, extent.height, &bytes) ||
        __builtin_mul_overflow(bytes, extent.depth, &bytes))
      return cudaErrorMemoryAllocation;
    void *pointer = nullptr;
    DRAGON_CHECK(allocateForProgram(front, &pointer, bytes, {}));
    *pitched = {pointer, row, extent.width, extent.height};
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (capturing() && !front.gpu && isCaptured(stream) && pointer && bytes) {
      cudaMemAllocNodeParams params{};
      params.bytesize = bytes;
      AllocWork work;
      DRAGON_CHECK(allocWork(front, params, work));
      *pointer = work.params.dptr;
      return captureWork(stream, std::move(work));
    }
    if (isCapturedByNvidia(front, stream))
      return DRAGON_NVIDIA(cudaMallocAsync, pointer, bytes, stream);
    AllocateOptions options;
    options.order = orderOf(front, stream);
    return allocateForProgram(front, pointer, bytes, options);
  });
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (capturing() && !front.gpu && isCaptured(stream))
      return captureWork(stream, FreeWork{pointer});
    if (isCapturedByNvidia(front, stream))
      return DRAGON_NVIDIA(cudaFreeAsync, pointer, stream);
    waitForHostFunctions(front, stream);
    return freeForProgram(front, pointer, orderOf(front, stream));
  });
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  return withDevice([&](Front &front) -> Result {
    auto memory = front.runtime.buffers().memoryForProgram();
    if (!memory.ok())
      return memory.takeStatus();
    if (free)
      *free = memory->free;
    if (total)
      *total = memory->total;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Pinned host memory
//===----------------------------------------------------------------------===//

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  constexpr unsigned Known =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return withDevice([&](Front &front) -> Result {
    if (!pointer || (flags & ~Known))
      return cudaErrorInvalidValue;
    if (bytes == 0) {
      *pointer = nullptr;
      return cudaSuccess;
    }
    if (const auto made = makePinned(front, bytes, flags)) {
      pinnedMemory().add(*made);
      *pointer = reinterpret_cast<void *>(made->begin);
    } else if (!front.gpu) {
      return cudaErrorMemoryAllocation;
    } else {
      DRAGON_CHECK(DRAGON_NVIDIA(cudaHostAlloc, pointer, bytes, flags));
    }
    noteAllocated(reinterpret_cast<uintptr_t>(*pointer), bytes, flags);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *pointer) {
  return withDevice([&](Front &front) -> Result {
    if (!pointer)
      return cudaSuccess;
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    waitForAllHostFunctions(front);
    const auto ours = pinnedMemory().take(begin, false);
    if (!ours && !front.gpu)
      return cudaErrorInvalidValue;
    if (const auto range = PinnedRanges::get().remove(begin, false))
      if (Status status = front.runtime.files().releaseProgramMemory(
              pointer, range->end - begin);
          !status.ok())
        return status;
    if (!ours)
      return DRAGON_NVIDIA(cudaFreeHost, pointer);
    // As the driver does before it frees.
    if (ours->memory.id)
      DRAGON_CHECK(front.device.synchronizeAll());
    return freePinned(front.device, *ours);
  });
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
  constexpr unsigned Known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                             cudaHostRegisterIoMemory |
                             cudaHostRegisterReadOnly;
  return withDevice([&](Front &front) -> Result {
    if (!pointer || !bytes || (flags & ~Known))
      return cudaErrorInvalidValue;
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    // The driver wants it writable.
    if (Status status =
            front.runtime.files().releaseProgramMemory(pointer, bytes);
        !status.ok())
      return status;
    const cudaError_t error =
        front.gpu ? DRAGON_NVIDIA(cudaHostRegister, pointer, bytes, flags)
        : pinnedMemory().add({begin, bytes, flags, true})
            ? cudaSuccess
            : cudaErrorHostMemoryAlreadyRegistered;
    if (error == cudaSuccess) {
      PinnedRanges::get().add(
          {begin, begin + bytes, PinnedRanges::Kind::Registered});
    }
    return error;
  });
}

cudaError_t cudaHostUnregister(void *pointer) {
  return withDevice([&](Front &front) -> Result {
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    if (const auto known = pinnedMemory().find(begin);
        known && !known->registered)
      return cudaErrorHostMemoryNotRegistered;
    // From now on it may end without being heard of.
    if (const auto range = PinnedRanges::get().remove(begin, true))
      DRAGON_CHECK(front.runtime.files().releaseProgramMemory(
          pointer, range->end - begin));
    if (front.gpu)
      return DRAGON_NVIDIA(cudaHostUnregister, pointer);
    return pinnedMemory().take(begin, true) ? cudaSuccess
                                            : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host,
                                     unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (!device || flags)
      return cudaErrorInvalidValue;
    DRAGON_CHECK(deviceMayWriteFrom(front, reinterpret_cast<uintptr_t>(host)));
    if (front.gpu)
      return DRAGON_NVIDIA(cudaHostGetDevicePointer, device, host, flags);
    if (!pinnedMemory().find(reinterpret_cast<uintptr_t>(host)))
      return cudaErrorInvalidValue;
    *device = host; // one address space
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  return withDevice([&](Front &front) -> Result {
    if (!flags)
      return cudaErrorInvalidValue;
    auto range = pinnedMemory().find(reinterpret_cast<uintptr_t>(host));
    if (!range && front.gpu)
      return DRAGON_NVIDIA(cudaHostGetFlags, flags, host);
    if (!range)
      return cudaErrorInvalidValue;
    *flags = range->flags | cudaHostAllocMapped; // unified addressing
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                     const void *pointer) {
  return withDevice([&](Front &front) -> Result {
    if (!attributes)
      return cudaErrorInvalidValue;
    auto address = reinterpret_cast<uintptr_t>(pointer);
    auto *writable = const_cast<void *>(pointer);
    cudaPointerAttributes answer{};
    if (auto buffer = front.runtime.buffers().find(address)) {
      answer.type =
          buffer->hostAccessible ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
      answer.devicePointer = writable;
      answer.hostPointer = buffer->hostAccessible ? writable : nullptr;
    } else if (front.gpu) {
      front.runtime.files().unpinProgramMemory(pointer, 1);
      return DRAGON_NVIDIA(cudaPointerGetAttributes, attributes, pointer);
    } else if (auto variable = modules().cpuVariableAt(address)) {
      answer.type =
          variable->managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
      answer.devicePointer = writable;
      answer.hostPointer = variable->managed ? writable : nullptr;
    } else if (pinnedMemory().find(address)) {
      answer.type = cudaMemoryTypeHost;
      answer.devicePointer = answer.hostPointer = writable;
    } else {
      answer.type = cudaMemoryTypeUnregistered;
      answer.device = cudaInvalidDeviceId;
      answer.hostPointer = writable;
    }
    *attributes = answer;
    return cudaSuccess;
  });
}

} // extern "C"
