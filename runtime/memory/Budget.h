//===- Budget.h - how much memory, in what chunks ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns settings and what the machine has into the two budgets and the chunk
// size. Pure, except machineMemory().
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_BUDGET_H
#define DRAGON_RUNTIME_MEMORY_BUDGET_H

#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"
#include "runtime/share/DeviceShare.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dragon {

/// Chunks that the host budget must hold at least: one in transit and one that
/// stays.
constexpr uint64_t MinHostChunks = 2;

struct Budget {
  uint64_t deviceBytes;
  uint64_t hostBytes;
  uint64_t chunkBytes;
  /// Of buffers that device memory does not hold, and of which data may say
  /// what is used: experts of a model, rows, are smaller than large chunks.
  uint64_t byDataChunkBytes;
  /// The part of hostBytes that is kept for data in transit between tiers.
  uint64_t transitBytes;
  /// What of host memory is made before it is known that it will be used.
  uint64_t aheadBytes;

  /// Sets hostBytes, and what follows from it.
  void limitHost(uint64_t bytes);
};

/// `hostFree`: bytes of host memory that are available.
/// `shared`, `sharedHost`: what this program may have of a device, and of host
/// memory, that it shares, were it alone there.
StatusOr<Budget>
chooseBudget(const Settings &settings, const DeviceCaps &caps,
             uint64_t hostFree, std::optional<uint64_t> shared = std::nullopt,
             std::optional<uint64_t> sharedHost = std::nullopt);
/// Of the device's memory: for what is not ours, libraries, code, page tables.
uint64_t deviceReserve(const DeviceCaps &caps);
/// How the process takes part in dividing the device with others. None: it does
/// not, for the settings say so, or the device's memory cannot be divided.
std::optional<DeviceShare::Terms> shareTerms(const Settings &settings,
                                             const DeviceCaps &caps);
/// Of the host's, for whatever else the machine does.
uint64_t hostReserve(uint64_t hostFree);
/// The same for host memory, which programs divide that divide a device.
DeviceShare::Terms hostShareTerms(const Settings &settings,
                                  const DeviceShare::Terms &device,
                                  uint64_t hostFree);

/// What is available to this process: /proc/meminfo, and the limits of its
/// control groups.
uint64_t availableHostMemory();
/// The name of the books of that memory: HostMemoryBooks, with a number at its
/// end that is the same for all processes of the innermost control group that
/// has a limit.
std::string hostMemoryName();

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_BUDGET_H
