//===- PeerDevices.h - GPUs whose memory another one reaches ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU's memory can be created (cuMemCreate) and opened for another one
// (cuMemSetAccess) without a context on it, which would cost it half a gigabyte
// and the program a quarter of a second. What is free there NVIDIA's management
// library tells (NVML, of the driver's packages): the driver itself tells it of
// contexts only.
//
// Threads: all calls from any thread.
//
// Source: CUDA Driver API, "Virtual Memory Management" and "Peer Context Memory
// Access"; NVML API, nvmlDeviceGetMemoryInfo.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CUDA_PEERDEVICES_H
#define DRAGON_RUNTIME_DEVICE_CUDA_PEERDEVICES_H

#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"
#include "runtime/device/cuda/CudaDriver.h"

#include <functional>
#include <string>
#include <vector>

namespace dragon {

/// A GPU's UUID as 32 hexadecimal digits; empty: the driver does not tell it.
std::string identityOf(const CudaDriver &cuda, CUdevice device);

struct PeerDevice {
  CUdevice device;
  unsigned number; ///< CUDA's
  PeerCaps caps;
};

/// What is free on the GPU of such a UUID.
using FreeMemory =
    std::function<StatusOr<DeviceMemory>(const std::string &identity)>;
/// By NVML.
StatusOr<DeviceMemory> freeMemoryByNvml(const std::string &identity);

/// The GPUs besides number 0 that `wanted` names and whose memory it reaches.
/// A number that there is not is an error; a GPU that is not reached, or that
/// does not tell what is free, is left out, with a note in the log.
StatusOr<std::vector<PeerDevice>> findPeers(const CudaDriver &cuda,
                                            CUdevice own, const Peers &wanted,
                                            const FreeMemory &freeMemory);

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CUDA_PEERDEVICES_H
