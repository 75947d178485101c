//===- PhysicalMemory.cpp - chunks of device and host memory
//----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/PhysicalMemory.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace dragon {

namespace {
// What a thread that makes pages of host memory does at a time.
constexpr size_t TouchedBytes = size_t(2) << 20;
} // namespace

PhysicalMemory::PhysicalMemory(const CudaDriver &cuda, CUdevice device)
    : Cuda(cuda), Device(device) {}

CUmemAllocationProp PhysicalMemory::properties(Place place) const {
  if (place == Place::Device)
    return propertiesOn(Device);
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  prop.location.id = NumaNode;
  return prop;
}

CUmemAllocationProp PhysicalMemory::propertiesOn(CUdevice device) const {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  return prop;
}

unsigned PhysicalMemory::access(Place place, CUmemAccessDesc desc[2]) const {
  desc[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  desc[0].location.id = Device;
  desc[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (place == Place::Device || place == Place::Peer)
    return 1;
  desc[1].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  desc[1].location.id = NumaNode;
  desc[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return 2;
}

Status PhysicalMemory::open() {
  int supported = 0;
  DRAGON_TRY(Cuda.check(
      Cuda.DeviceGetAttribute(
          &supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
          Device),
      "cuDeviceGetAttribute"));
  if (!supported)
    return Status::error(DRAGON_ERROR_NO_DEVICE,
                         "the GPU has no virtual memory management");
  CUmemAllocationProp prop = properties(Place::Device);
  DRAGON_TRY(
      Cuda.check(Cuda.MemGetAllocationGranularity(
                     &Granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                 "cuMemGetAllocationGranularity"));
  Granularity = std::max<size_t>(Granularity, 2 << 20);

  Status why = findHostMemory();
  if (!why.ok())
    log(LogLevel::Info,
        "the GPU cannot be given host memory at chunk addresses: {}",
        why.message());
  return {};
}

Status PhysicalMemory::findHostMemory() {
  int supported = 0;
  if (Cuda.DeviceGetAttribute(
          &supported,
          CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
          Device) != CUDA_SUCCESS ||
      !supported)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "the driver does not support it");
  // The node next to the GPU; -1 where the system has none.
  int near = 0;
  if (Cuda.DeviceGetAttribute(&near, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
                              Device) != CUDA_SUCCESS ||
      near < 0)
    near = 0;
  // Tried, not believed: a container may be kept from a node.
  HostMapped = true;
  Status status;
  for (int node : {near, 0}) {
    NumaNode = node;
    status = tryHostMemory();
    if (status.ok())
      return {};
  }
  HostMapped = false;
  return status;
}

Status PhysicalMemory::tryHostMemory() {
  CUmemAllocationProp prop = properties(Place::Host);
  size_t granularity = 0;
  DRAGON_TRY(
      Cuda.check(Cuda.MemGetAllocationGranularity(
                     &granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                 "cuMemGetAllocationGranularity"));
  if (granularity == 0 || Granularity % granularity)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "host memory comes in multiples of {} bytes",
                         granularity);
  DRAGON_ASSIGN(Chunk probe, make(Place::Host, Granularity));
  return giveBack(probe);
}

Status PhysicalMemory::mapView(Chunk &chunk) {
  CUdeviceptr va = 0;
  DRAGON_TRY(
      Cuda.check(Cuda.MemAddressReserve(&va, chunk.bytes, Granularity, 0, 0),
                 "cuMemAddressReserve"));
  CUresult result = Cuda.MemMap(va, chunk.bytes, 0, chunk.handle, 0);
  const char *call = "cuMemMap";
  if (result == CUDA_SUCCESS) {
    CUmemAccessDesc desc[2];
    unsigned count = access(chunk.place, desc);
    result = Cuda.MemSetAccess(va, chunk.bytes, desc, count);
    call = "cuMemSetAccess";
    if (result != CUDA_SUCCESS)
      Cuda.MemUnmap(va, chunk.bytes);
  }
  if (result != CUDA_SUCCESS) {
    Cuda.MemAddressFree(va, chunk.bytes);
    return Cuda.check(result, call)
        .within("mapping {} bytes of {} memory", chunk.bytes,
                chunk.place == Place::Peer ? "peer" : "host");
  }
  chunk.view = reinterpret_cast<void *>(va);
  return {};
}

Status PhysicalMemory::registerPages(Chunk &chunk) {
  const size_t room = chunk.bytes + Granularity;
  void *pages = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    return Status::native(DRAGON_ERROR_OUT_OF_MEMORY, errno,
                          "mapping {} bytes of memory: {}", room,
                          std::strerror(errno));
  const uintptr_t begin =
      (reinterpret_cast<uintptr_t>(pages) + Granularity - 1) / Granularity *
      Granularity;
  char *view = reinterpret_cast<char *>(begin);
  madvise(view, chunk.bytes, MADV_HUGEPAGE); // a hint
  // The kernel fills new pages with zeros: what several threads do in a quarter
  // of the time, the driver would do with one.
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  std::atomic<size_t> next{0};
  hostThreads().run(chunk.bytes / TouchedBytes, [&] {
    for (size_t at; (at = next.fetch_add(TouchedBytes)) < chunk.bytes;)
      for (size_t end = std::min(chunk.bytes, at + TouchedBytes); at < end;
           at += page)
        *static_cast<volatile char *>(view + at) = 0;
  });
  Status status = Cuda.check(
      Cuda.MemHostRegister(view, chunk.bytes, CU_MEMHOSTREGISTER_PORTABLE),
      "cuMemHostRegister");
  if (!status.ok()) {
    munmap(pages, room);
    return status;
  }
  chunk.pages = pages;
  chunk.view = view;
  return {};
}

StatusOr<PhysicalMemory::Chunk> PhysicalMemory::make(Place place,
                                                     size_t bytes) {
  Chunk chunk;
  chunk.place = place;
  chunk.bytes = bytes;
  if (place == Place::Pinned && registerPages(chunk).ok())
    return chunk;
  if (place != Place::Device && !HostMapped) {
    DRAGON_TRY_IN(Cuda.check(Cuda.MemHostAlloc(&chunk.view, bytes,
                                               CU_MEMHOSTALLOC_PORTABLE),
                             "cuMemHostAlloc"),
                  "creating {} bytes of pinned host memory", bytes);
    return chunk;
  }
  CUmemAllocationProp prop = properties(place);
  DRAGON_TRY_IN(
      Cuda.check(Cuda.MemCreate(&chunk.handle, bytes, &prop, 0), "cuMemCreate"),
      "creating {} bytes of {} memory", bytes,
      place == Place::Device ? "device" : "host");
  if (place != Place::Device)
    if (Status status = mapView(chunk); !status.ok()) {
      Cuda.MemRelease(chunk.handle);
      return status;
    }
  return chunk;
}

Status PhysicalMemory::giveBack(const Chunk &chunk) {
  if (chunk.pages) {
    Status status =
        Cuda.check(Cuda.MemHostUnregister(chunk.view), "cuMemHostUnregister");
    munmap(chunk.pages, chunk.bytes + Granularity);
    return status;
  }
  if (!chunk.handle)
    return Cuda.check(Cuda.MemFreeHost(chunk.view), "cuMemFreeHost");
  if (chunk.view) {
    CUdeviceptr va = reinterpret_cast<CUdeviceptr>(chunk.view);
    DRAGON_TRY(Cuda.check(Cuda.MemUnmap(va, chunk.bytes), "cuMemUnmap"));
    DRAGON_TRY(
        Cuda.check(Cuda.MemAddressFree(va, chunk.bytes), "cuMemAddressFree"));
  }
  return Cuda.check(Cuda.MemRelease(chunk.handle), "cuMemRelease");
}

StatusOr<Physical> PhysicalMemory::create(Place place, size_t bytes) {
  DRAGON_ASSIGN(const Chunk chunk, make(place, bytes));
  return keep(chunk);
}

Physical PhysicalMemory::keep(const Chunk &chunk) {
  std::lock_guard<std::mutex> guard(Lock);
  Physical physical;
  physical.id = NextId++;
  physical.place = chunk.place;
  physical.bytes = chunk.bytes;
  (chunk.place == Place::Peer ? physical.peerView : physical.hostView) =
      chunk.view;
  Chunks[physical.id] = chunk;
  return physical;
}

StatusOr<Physical> PhysicalMemory::createOnPeer(unsigned peer, CUdevice device,
                                                size_t bytes) {
  Chunk chunk;
  chunk.place = Place::Peer;
  chunk.bytes = bytes;
  const CUmemAllocationProp prop = propertiesOn(device);
  DRAGON_TRY_IN(
      Cuda.check(Cuda.MemCreate(&chunk.handle, bytes, &prop, 0), "cuMemCreate"),
      "creating {} bytes of a peer's memory", bytes);
  if (Status status = mapView(chunk); !status.ok()) {
    Cuda.MemRelease(chunk.handle);
    return status;
  }
  Physical physical = keep(chunk);
  physical.peer = peer;
  return physical;
}

Status PhysicalMemory::destroy(const Physical &physical) {
  Chunk chunk;
  {
    std::lock_guard<std::mutex> guard(Lock);
    auto it = Chunks.find(physical.id);
    if (it == Chunks.end())
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "destroy: there is no chunk {}", physical.id);
    chunk = it->second;
    Chunks.erase(it);
  }
  return giveBack(chunk);
}

StatusOr<CUmemGenericAllocationHandle>
PhysicalMemory::handle(const Physical &physical) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Chunks.find(physical.id);
  if (it == Chunks.end() || it->second.bytes != physical.bytes)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "there is no chunk {} of {} bytes", physical.id,
                         physical.bytes);
  return it->second.handle;
}

} // namespace dragon
