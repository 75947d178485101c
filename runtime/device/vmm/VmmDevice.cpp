//===- VmmDevice.cpp - a GPU by CUDA's virtual memory management ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/vmm/VmmDevice.h"

#include <algorithm>
#include <cstring>

namespace dragon {

VmmDevice::VmmDevice(const CudaDriver &cuda, const CudaContext &context,
                     FreeMemory freeMemory)
    : CudaDevice(cuda, context), Memory(cuda, context.device),
      FreeOf(std::move(freeMemory)) {}

VmmDevice::~VmmDevice() {
  CudaContextScope scope(Cuda, Context);
  for (const auto &[begin, end] : Reserved)
    removeFaultRange(begin);
}

StatusOr<std::unique_ptr<Device>> VmmDevice::create(const Settings &settings) {
  DRAGON_ASSIGN(const CudaDriver *cuda, CudaDriver::load());
  return createOn(*cuda, settings);
}

StatusOr<std::unique_ptr<Device>> VmmDevice::createOn(const CudaDriver &cuda,
                                                      const Settings &settings,
                                                      FreeMemory freeMemory) {
  DRAGON_ASSIGN(CudaContext context, CudaContext::retain(cuda));
  std::unique_ptr<VmmDevice> device(
      new VmmDevice(cuda, context, std::move(freeMemory)));
  CudaContextScope scope(cuda, context.context);
  DRAGON_TRY(device->Memory.open());
  DRAGON_TRY(device->describe("vmm", device->Memory.granularity(),
                              device->Memory.hostMapped()));
  DRAGON_ASSIGN(
      std::vector<PeerDevice> peers,
      findPeers(cuda, context.device, settings.peers, device->FreeOf));
  for (PeerDevice &peer : peers) {
    device->Peers.push_back(peer.device);
    device->Caps.peers.push_back(std::move(peer.caps));
  }
  return StatusOr<std::unique_ptr<Device>>(std::move(device));
}

//===----------------------------------------------------------------------===//
// Addresses and physical memory
//===----------------------------------------------------------------------===//

// A range ends where no other begins, as the driver gives ranges side by side:
// a pointer to the end of a buffer, from which a kernel goes backwards, belongs
// to that buffer and to no other.
static size_t withGap(size_t bytes, const DeviceCaps &caps) {
  return bytes + caps.granularity;
}

StatusOr<uintptr_t> VmmDevice::reserveImpl(size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  CUdeviceptr va = 0, behindLast = 0;
  const size_t reserved = withGap(bytes, Caps);
  {
    // The driver gives addresses at both ends of what there is. Tables of pages
    // cover what lies between buffers (PageCache): this asks it to stay close.
    std::shared_lock<std::shared_mutex> guard(Lock);
    if (!Reserved.empty())
      behindLast = withGap(Reserved.rbegin()->second, Caps);
  }
  DRAGON_TRY_IN(Cuda.check(Cuda.MemAddressReserve(
                               &va, reserved, Caps.granularity, behindLast, 0),
                           "cuMemAddressReserve"),
                "reserving {} bytes of addresses", reserved);
  if (Status status = addFaultRange(va, va + bytes, *this); !status.ok()) {
    Cuda.MemAddressFree(va, reserved);
    return status;
  }
  std::unique_lock<std::shared_mutex> guard(Lock);
  Reserved[va] = va + bytes;
  return static_cast<uintptr_t>(va);
}

Status VmmDevice::releaseImpl(uintptr_t base, size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  {
    std::unique_lock<std::shared_mutex> guard(Lock);
    auto it = Reserved.find(base);
    if (it == Reserved.end() || it->second != base + bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "release: [{:#x}, +{:#x}) is not a reserved range",
                           base, bytes);
    auto chunk = Mapped.lower_bound(base);
    if (chunk != Mapped.end() && chunk->first < base + bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "release: [{:#x}, +{:#x}) still has a chunk mapped "
                           "at {:#x}",
                           base, bytes, chunk->first);
    Reserved.erase(it);
  }
  removeFaultRange(base);
  return Cuda
      .check(Cuda.MemAddressFree(base, withGap(bytes, Caps)),
             "cuMemAddressFree")
      .within("releasing [{:#x}, +{:#x})", base, bytes);
}

StatusOr<Physical> VmmDevice::createImpl(Place place, size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  return Memory.create(place, bytes);
}

StatusOr<Physical> VmmDevice::createOnPeerImpl(unsigned peer, size_t bytes) {
  CudaContextScope scope(Cuda, Context);
  return Memory.createOnPeer(peer, Peers[peer], bytes);
}

StatusOr<DeviceMemory> VmmDevice::peerMemoryImpl(unsigned peer) {
  return FreeOf(Caps.peers[peer].identity);
}

Status VmmDevice::destroyImpl(const Physical &physical) {
  CudaContextScope scope(Cuda, Context);
  return Memory.destroy(physical);
}

Status VmmDevice::mapImpl(uintptr_t va, const Physical &physical) {
  CudaContextScope scope(Cuda, Context);
  DRAGON_ASSIGN(CUmemGenericAllocationHandle handle, Memory.handle(physical));
  uintptr_t end = va + physical.bytes;
  DRAGON_TRY_IN(
      Cuda.check(Cuda.MemMap(va, physical.bytes, 0, handle, 0), "cuMemMap"),
      "mapping chunk {} at [{:#x}, {:#x})", physical.id, va, end);
  // 40 us on an H200, whatever the size and beside kernels, and 60 us beside
  // copies to the device. But the driver writes page tables behind the copies
  // from the device that are queued: 270 us behind one of 16 MiB, 860 us behind
  // three. Launches from other threads are not delayed.
  CUmemAccessDesc desc[2];
  unsigned count = Memory.access(physical.place, desc);
  CUresult result = Cuda.MemSetAccess(va, physical.bytes, desc, count);
  if (result != CUDA_SUCCESS) {
    Cuda.MemUnmap(va, physical.bytes);
    return Cuda.check(result, "cuMemSetAccess")
        .within("mapping chunk {} at [{:#x}, {:#x})", physical.id, va, end);
  }
  std::unique_lock<std::shared_mutex> guard(Lock);
  Mapped[va] =
      Chunk{end, physical.place, static_cast<char *>(physical.hostView)};
  return {};
}

Status VmmDevice::unmapImpl(uintptr_t va, const Physical &physical) {
  CudaContextScope scope(Cuda, Context);
  {
    std::unique_lock<std::shared_mutex> guard(Lock);
    auto it = Mapped.find(va);
    if (it == Mapped.end() || it->second.end != va + physical.bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "unmap: chunk {} is not mapped at {:#x}",
                           physical.id, va);
    Mapped.erase(it);
  }
  return Cuda.check(Cuda.MemUnmap(va, physical.bytes), "cuMemUnmap")
      .within("unmapping chunk {} at {:#x}", physical.id, va);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status VmmDevice::resolve(uintptr_t address, size_t bytes,
                          std::vector<Piece> &pieces) {
  std::shared_lock<std::shared_mutex> guard(Lock);
  uintptr_t end = address + bytes;
  auto range = Reserved.upper_bound(address);
  if (range == Reserved.begin() || std::prev(range)->second <= address) {
    pieces.push_back({address, bytes});
    return {};
  }
  auto it = Mapped.upper_bound(address);
  if (it != Mapped.begin())
    --it;
  bool lastIsDevice = false;
  for (; address < end; ++it) {
    if (it == Mapped.end() || it->first > address || it->second.end <= address)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "nothing is mapped at {:#x} (range ends at {:#x})",
                           address, end);
    const Chunk &chunk = it->second;
    size_t part = std::min(end, chunk.end) - address;
    const bool isDevice =
        chunk.place == Place::Device || chunk.place == Place::Peer;
    if (isDevice && lastIsDevice)
      pieces.back().bytes += part;
    else if (isDevice)
      pieces.push_back({address, part});
    else
      pieces.push_back(
          {reinterpret_cast<uintptr_t>(chunk.hostView) + (address - it->first),
           part});
    lastIsDevice = isDevice;
    address += part;
  }
  return {};
}

Status VmmDevice::resolveBoth(const void *to, const void *from, size_t bytes,
                              std::vector<Piece> &target,
                              std::vector<Piece> &source) {
  DRAGON_TRY_IN(resolve(reinterpret_cast<uintptr_t>(from), bytes, source),
                "source of a copy");
  DRAGON_TRY_IN(resolve(reinterpret_cast<uintptr_t>(to), bytes, target),
                "destination of a copy");
  return {};
}

Status VmmDevice::copyImpl(void *to, const void *from, size_t bytes, CopyKind,
                           Queue queue) {
  std::vector<Piece> source, target;
  DRAGON_TRY(resolveBoth(to, from, bytes, target, source));
  CudaContextScope scope(Cuda, Context);
  auto in = source.begin();
  auto out = target.begin();
  while (bytes) {
    size_t part = std::min(in->bytes, out->bytes);
    DRAGON_TRY(copyPiece(out->address, in->address, part, queue));
    bytes -= part;
    for (auto *it : {&in, &out}) {
      (*it)->address += part;
      if (((*it)->bytes -= part) == 0)
        ++*it;
    }
  }
  return {};
}

Status VmmDevice::copyAndWaitImpl(void *to, const void *from, size_t bytes,
                                  CopyKind kind, Queue queue) {
  if (queue) // the call for that is the legacy default stream's
    return Device::copyAndWaitImpl(to, from, bytes, kind, queue);
  std::vector<Piece> source, target;
  DRAGON_TRY(resolveBoth(to, from, bytes, target, source));
  if (source.size() != 1 || target.size() != 1)
    return Device::copyAndWaitImpl(to, from, bytes, kind, queue);
  CudaContextScope scope(Cuda, Context);
  return Cuda
      .check(Cuda.Memcpy(target[0].address, source[0].address, bytes),
             "cuMemcpy")
      .within("copying {} bytes from {:#x} to {:#x}", bytes, source[0].address,
              target[0].address);
}

Status VmmDevice::fillImpl(void *to, uint32_t value, unsigned width,
                           size_t count, Queue queue) {
  std::vector<Piece> target;
  DRAGON_TRY_IN(resolve(reinterpret_cast<uintptr_t>(to), count * width, target),
                "fill");
  CudaContextScope scope(Cuda, Context);
  for (const Piece &piece : target)
    DRAGON_TRY(fillPiece(piece.address, value, width, piece.bytes, queue));
  return {};
}

//===----------------------------------------------------------------------===//
// Host access
//===----------------------------------------------------------------------===//

// The host never reaches device memory: every chunk of it is guarded.
Status VmmDevice::guardHostAccessImpl(uintptr_t, size_t, bool) { return {}; }

Status VmmDevice::setFaultHandlerImpl(FaultHandler handler, void *context) {
  std::unique_lock<std::shared_mutex> guard(Lock);
  Handler = handler;
  HandlerContext = context;
  return {};
}

bool VmmDevice::hostFault(uintptr_t address, bool write) {
  FaultHandler handler;
  void *context;
  {
    std::shared_lock<std::shared_mutex> guard(Lock);
    auto it = Mapped.upper_bound(address);
    if (it != Mapped.begin() && std::prev(it)->second.end > address &&
        std::prev(it)->second.place == Place::Host)
      return true; // another thread was faster
    handler = Handler;
    context = HandlerContext;
  }
  return handler && handler(context, address, write);
}

} // namespace dragon
