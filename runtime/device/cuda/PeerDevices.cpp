//===- PeerDevices.cpp - GPUs whose memory another one reaches ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/PeerDevices.h"

#include "runtime/trace/Log.h"

#include <dlfcn.h>

namespace dragon {

namespace {

/// The three functions of NVML that are needed, with the types of nvml.h.
struct Nvml {
  struct Memory {
    unsigned long long total, free, used;
  };
  int (*init)() = nullptr;
  int (*deviceByUuid)(const char *uuid, void **device) = nullptr;
  int (*memoryOf)(void *device, Memory *memory) = nullptr;
  Status status;

  Nvml() {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *why = dlerror();
      status = Status::error(DRAGON_ERROR_UNSUPPORTED,
                             "cannot load libnvidia-ml.so.1 ({}), which tells "
                             "what is free there",
                             why ? why : "unknown reason");
      return;
    }
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlDeviceGetHandleByUUID", deviceByUuid);
    find(library, "nvmlDeviceGetMemoryInfo", memoryOf);
    if (status.ok())
      check(init(), "nvmlInit_v2");
  }

  template <typename Function>
  void find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function && status.ok())
      status = Status::error(DRAGON_ERROR_UNSUPPORTED,
                             "libnvidia-ml.so.1 has no {}", name);
  }
  void check(int result, const char *call) {
    if (result != 0 && status.ok())
      status = failed(result, call);
  }
  static Status failed(int result, const char *call) {
    return Status::native(DRAGON_ERROR_UNSUPPORTED, result, "{}: error {}",
                          call, result);
  }
};

} // namespace

std::string identityOf(const CudaDriver &cuda, CUdevice device) {
  std::string identity;
  CUuuid uuid{};
  if (cuda.DeviceGetUuid && cuda.DeviceGetUuid(&uuid, device) == CUDA_SUCCESS)
    for (char byte : uuid.bytes)
      identity += fmt::format("{:02x}", uint8_t(byte));
  return identity;
}

StatusOr<DeviceMemory> freeMemoryByNvml(const std::string &identity) {
  static const Nvml *library = new Nvml; // loaded as long as the process lives
  if (!library->status.ok())
    return library->status.copy();
  // "GPU-01234567-89ab-cdef-0123-456789abcdef"
  std::string uuid = "GPU-" + identity;
  for (size_t at : {12, 17, 22, 27})
    if (at < uuid.size())
      uuid.insert(at, "-");
  void *device = nullptr;
  if (int result = library->deviceByUuid(uuid.c_str(), &device))
    return Nvml::failed(result, "nvmlDeviceGetHandleByUUID");
  Nvml::Memory memory{};
  if (int result = library->memoryOf(device, &memory))
    return Nvml::failed(result, "nvmlDeviceGetMemoryInfo");
  return DeviceMemory{memory.free, memory.total};
}

/// None: it cannot be one, which the log says.
static StatusOr<PeerDevice> peerOf(const CudaDriver &cuda, CUdevice own,
                                   unsigned number,
                                   const FreeMemory &freeMemory) {
  PeerDevice peer{};
  peer.number = number;
  DRAGON_TRY(
      cuda.check(cuda.DeviceGet(&peer.device, int(number)), "cuDeviceGet"));
  int reached = 0, manages = 0;
  DRAGON_TRY(cuda.check(cuda.DeviceCanAccessPeer(&reached, own, peer.device),
                        "cuDeviceCanAccessPeer"));
  DRAGON_TRY(cuda.check(
      cuda.DeviceGetAttribute(
          &manages, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
          peer.device),
      "cuDeviceGetAttribute"));
  if (!reached || !manages)
    return Status::error(DRAGON_ERROR_UNSUPPORTED, "{}",
                         reached ? "it has no virtual memory management"
                                 : "GPU 0 does not reach its memory");
  int atomics = 0;
  cuda.DeviceGetP2PAttribute(&atomics,
                             CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
                             own, peer.device);
  peer.caps.nativeAtomics = atomics != 0;
  char name[128] = "GPU";
  cuda.DeviceGetName(name, sizeof name, peer.device);
  peer.caps.name = fmt::format("GPU {} ({})", number, name);
  peer.caps.identity = identityOf(cuda, peer.device);
  DRAGON_ASSIGN(const DeviceMemory memory, freeMemory(peer.caps.identity));
  peer.caps.totalMemory = memory.total;
  peer.caps.reserve = reserveOf(memory.total);
  return peer;
}

StatusOr<std::vector<PeerDevice>> findPeers(const CudaDriver &cuda,
                                            CUdevice own, const Peers &wanted,
                                            const FreeMemory &freeMemory) {
  std::vector<PeerDevice> peers;
  if (!wanted.any())
    return peers;
  int count = 0;
  DRAGON_TRY(cuda.check(cuda.DeviceGetCount(&count), "cuDeviceGetCount"));
  DRAGON_TRY(wanted.check(0, unsigned(count)));
  for (unsigned number = 1; number < unsigned(count); ++number) {
    if (!wanted.has(number))
      continue;
    auto peer = peerOf(cuda, own, number, freeMemory);
    if (peer.ok())
      peers.push_back(std::move(*peer));
    else
      log(LogLevel::Info, "no memory of GPU {}: {}", number,
          peer.takeStatus().message());
  }
  return peers;
}

} // namespace dragon
