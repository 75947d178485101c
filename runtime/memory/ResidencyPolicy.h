//===- ResidencyPolicy.h - what is to happen to a chunk ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that decides whether contents are fetched, dropped or written.
// A chunk's contents can be in three copies: on the device, in host memory, in
// storage (a file, swap, or "all zero" or "undefined", which need no bytes).
// Each is valid or not; contents are dirty if storage is not.
//
// decide() is pure: no clock, no lock, no device. Its laws, tested by
// enumerating all states:
//   * contents that are live and in one copy only are never dropped;
//   * what is fully overwritten before any read is never fetched;
//   * what is clean or dead is never written anywhere.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_RESIDENCYPOLICY_H
#define DRAGON_RUNTIME_MEMORY_RESIDENCYPOLICY_H

#include "runtime/base/Ledger.h"

#include <cstdint>
#include <optional>

namespace dragon {

/// What the copy in storage is.
enum class Stored : uint8_t {
  Stale,     ///< not the contents: they were changed since
  Undefined, ///< the contents are undefined, any bytes will do
  Zero,
  File, ///< a range of a file of the program, or several
  Swap
};

struct ChunkState {
  bool onDevice = false; ///< the device's copy is valid
  bool onHost = false;   ///< the host's copy is valid
  Stored stored = Stored::Undefined;
  bool hasSink = false; ///< storage has a place for dirty contents besides swap
  bool readOnly = false; ///< the program said that it only reads (D_READ)
};

/// What the next work does to the chunk.
enum class LaunchNeed : uint8_t {
  None,
  Read,
  Write,    ///< may write some of it; the rest is kept
  Overwrite ///< writes all of it before any read
};

/// When the contents are needed again.
enum class NextUse : uint8_t {
  Unknown,
  Never ///< dead: overwritten or freed before any read
};

/// What has to give way.
enum class Pressure : uint8_t {
  None,
  Device,        ///< the device copy must go; the host has room
  DeviceAndHost, ///< the same, and the host has no room
  Host           ///< the host copy must go
};

enum class Fetch : uint8_t {
  Nothing, ///< the device has what is needed
  Undefined,
  Zero,
  FromHost,
  FromStorage
};

enum class Removal : uint8_t { None, Drop, ToHost, ToMemory, ToSink, ToSwap };

struct Move {
  Fetch fetch = Fetch::Nothing;
  Removal removal = Removal::None;
  std::optional<Avoided> avoided; ///< a copy of the chunk that is not made
};

Move decide(const ChunkState &now, LaunchNeed need, NextUse next,
            Pressure pressure);

/// A copy from host memory to a chunk, which may go to the device or to the
/// chunk's copy in host memory.
struct UploadState {
  bool outOfCore = false;   ///< not everything fits on the device
  bool pageable = false;    ///< the processor copies the memory in any case
  bool overwrites = false;  ///< all of the chunk
  bool readOnly = false;    ///< no kernel changes it
  bool onDevice = false;    ///< the chunk's contents are there
  bool hostHasRoom = false; ///< so does the chunk in host memory
  uint64_t held = 0;        ///< contents on the device, with the chunk's
  uint64_t budget = 0;      ///< of the device
};
enum class UploadPlace : uint8_t {
  Host,
  DeviceIfFree, ///< the device if no other chunk has to leave, else the host
  Device
};
UploadPlace placeUpload(const UploadState &upload);

/// Contents that only a read of a file or of swap brings back.
inline bool livesInStorage(const ChunkState &now) {
  return !now.onDevice && !now.onHost &&
         (now.stored == Stored::File || now.stored == Stored::Swap);
}

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_RESIDENCYPOLICY_H
