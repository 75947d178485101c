//===- DeviceCaps.h - abilities of a device ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DEVICECAPS_H
#define DRAGON_RUNTIME_DEVICE_DEVICECAPS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dragon {

/// Of a device's memory: for what is not ours, libraries, code, page tables,
/// and programs of other kinds.
constexpr uint64_t reserveOf(uint64_t totalMemory) {
  constexpr uint64_t Least = uint64_t(512) << 20, Share = 32;
  return totalMemory / Share > Least ? totalMemory / Share : Least;
}

/// Another device of the machine whose memory this one's kernels and copies
/// reach.
struct PeerCaps {
  std::string name;     ///< for messages: "GPU 1"
  std::string identity; ///< as DeviceCaps's
  uint64_t totalMemory;
  /// Of its memory: for what is not ours.
  uint64_t reserve;
  /// Kernels update its memory atomically as their own: the link is NVLink or
  /// its like, several times faster than the host's.
  bool nativeAtomics;
};

struct DeviceCaps {
  const char *name;         ///< "vmm", "managed", "dragon", "cpu"
  size_t granularity;       ///< chunk sizes are multiples of it (2 MiB)
  bool hostMapped;          ///< Place::Host chunks can be mapped for kernels
  bool deviceIsHostVisible; ///< the host can touch mapped Device chunks (cpu)
  bool strict;              ///< kernels can touch only LaunchRequest::touched
  bool asynchronous;        ///< queued work runs after the call returns
  bool hasLink;             ///< the times of copies tell its rates
  /// Reserved addresses are the driver's to move to the side that touches them,
  /// host or device, mapped or not; it takes the hints below.
  bool migrates;
  bool mapsFiles; ///< mapFile works
  uint64_t totalMemory;
  uint64_t freeMemory; ///< at creation
  /// The same in every process and container, and part of a file's name if need
  /// be; empty: not known.
  std::string identity;
  std::vector<PeerCaps> peers; ///< createOnPeer() takes their indices
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DEVICECAPS_H
