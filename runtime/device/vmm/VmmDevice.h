//===- VmmDevice.h - a GPU by CUDA's virtual memory management -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The GPU as a Device, on the driver API: reserved addresses into which chunks
// of device memory or of host memory are mapped (cuMemAddressReserve,
// cuMemCreate, cuMemMap, cuMemSetAccess). No managed memory, no page faults on
// the GPU.
//
// The host can access chunks in host memory; its access to anything else in a
// reserved range raises SIGSEGV and goes to the fault handler.
//
// Copies across chunks are cut where memory of another kind begins: the driver
// takes a copy's kind from its first address.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_VMM_VMMDEVICE_H
#define DRAGON_RUNTIME_DEVICE_VMM_VMMDEVICE_H

#include "runtime/base/Settings.h"
#include "runtime/device/FaultHandling.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/PeerDevices.h"
#include "runtime/device/cuda/PhysicalMemory.h"

#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace dragon {

class VmmDevice final : public CudaDevice, private FaultSink {
public:
  static StatusOr<std::unique_ptr<Device>> create(const Settings &settings);
  /// On a driver that the caller has loaded; for tests.
  static StatusOr<std::unique_ptr<Device>>
  createOn(const CudaDriver &cuda, const Settings &settings = {},
           FreeMemory freeMemory = freeMemoryByNvml);
  ~VmmDevice() override;

private:
  VmmDevice(const CudaDriver &cuda, const CudaContext &context,
            FreeMemory freeMemory);

  struct Chunk {
    uintptr_t end;
    Place place;
    char *hostView;
  };
  /// A part of a range that one call of the driver can take.
  struct Piece {
    uintptr_t address;
    size_t bytes;
  };
  Status resolve(uintptr_t address, size_t bytes, std::vector<Piece> &pieces);
  Status resolveBoth(const void *to, const void *from, size_t bytes,
                     std::vector<Piece> &target, std::vector<Piece> &source);
  bool hostFault(uintptr_t address, bool write) override;

  StatusOr<uintptr_t> reserveImpl(size_t bytes) override;
  Status releaseImpl(uintptr_t base, size_t bytes) override;
  StatusOr<Physical> createImpl(Place place, size_t bytes) override;
  StatusOr<Physical> createOnPeerImpl(unsigned peer, size_t bytes) override;
  StatusOr<DeviceMemory> peerMemoryImpl(unsigned peer) override;
  Status destroyImpl(const Physical &physical) override;
  Status mapImpl(uintptr_t va, const Physical &physical) override;
  Status unmapImpl(uintptr_t va, const Physical &physical) override;
  Status copyImpl(void *to, const void *from, size_t bytes, CopyKind kind,
                  Queue queue) override;
  Status copyAndWaitImpl(void *to, const void *from, size_t bytes,
                         CopyKind kind, Queue queue) override;
  Status fillImpl(void *to, uint32_t value, unsigned width, size_t count,
                  Queue queue) override;
  Status guardHostAccessImpl(uintptr_t va, size_t bytes, bool guarded) override;
  Status setFaultHandlerImpl(FaultHandler handler, void *context) override;

  PhysicalMemory Memory;
  const FreeMemory FreeOf;
  std::vector<CUdevice> Peers; ///< as caps().peers

  std::shared_mutex Lock;
  std::map<uintptr_t, uintptr_t> Reserved; // begin -> end
  std::map<uintptr_t, Chunk> Mapped;
  FaultHandler Handler = nullptr;
  void *HandlerContext = nullptr;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_VMM_VMMDEVICE_H
