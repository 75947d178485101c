//===- PhysicalMemory.h - chunks of device and host memory -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Physical memory by cuMemCreate, and pinned pages of the process. Host chunks
// lie on the NUMA node next to the GPU and are mapped once, for good, at an
// address of their own that host and device can access (hostView). Where the
// driver has no host memory of that kind, host chunks are plain pinned memory
// that kernels cannot be given at other addresses. What is destroyed goes back
// to the system at once: the one who keeps memory is SlabPool (tier).
//
// Threads: all calls from any thread, with the context current.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CUDA_PHYSICALMEMORY_H
#define DRAGON_RUNTIME_DEVICE_CUDA_PHYSICALMEMORY_H

#include "runtime/device/Device.h"
#include "runtime/device/cuda/CudaDriver.h"

#include <mutex>
#include <unordered_map>

namespace dragon {

class PhysicalMemory {
public:
  PhysicalMemory(const CudaDriver &cuda, CUdevice device);

  /// Asks the device what it can; before any other call.
  Status open();
  /// The same for a device whose memory comes otherwise: host memory alone, to
  /// copy from and to.
  void openForCopies(size_t granularity) { Granularity = granularity; }

  size_t granularity() const { return Granularity; }
  bool hostMapped() const { return HostMapped; }
  StatusOr<Physical> create(Place place, size_t bytes);
  /// Of another GPU, that copies of this one reach at Physical::peerView.
  StatusOr<Physical> createOnPeer(unsigned peer, CUdevice device, size_t bytes);
  Status destroy(const Physical &physical);
  /// For cuMemMap; an error if there is no such chunk.
  StatusOr<CUmemGenericAllocationHandle> handle(const Physical &physical);
  /// Whom a mapped chunk is opened for: the device, and for host chunks the
  /// host. Returns the number of entries.
  unsigned access(Place place, CUmemAccessDesc desc[2]) const;

private:
  struct Chunk {
    CUmemGenericAllocationHandle handle = 0;
    Place place = Place::None;
    size_t bytes = 0;
    void *view = nullptr;  ///< hostView, or peerView
    void *pages = nullptr; ///< pinned: what is to be unmapped
  };

  CUmemAllocationProp properties(Place place) const;
  CUmemAllocationProp propertiesOn(CUdevice device) const;
  Status findHostMemory();
  Status tryHostMemory();
  StatusOr<Chunk> make(Place place, size_t bytes);
  /// Where copies reach it all the time.
  Status mapView(Chunk &chunk);
  Physical keep(const Chunk &chunk);
  /// Pages of the process, registered with the driver.
  Status registerPages(Chunk &chunk);
  Status giveBack(const Chunk &chunk);

  const CudaDriver &Cuda;
  CUdevice Device;
  int NumaNode = 0;
  bool HostMapped = false;
  size_t Granularity = 0;

  std::mutex Lock;
  std::unordered_map<uint64_t, Chunk> Chunks;
  uint64_t NextId = 1;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CUDA_PHYSICALMEMORY_H
