//===- DeviceHints.h - hints and files for the driver -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some drivers move contents by themselves, between host and device or from and
// to files. These calls tell such a driver what is dead, what is wanted where,
// and which file lies under which range. A device whose driver does not move
// contents takes the hints and does nothing.
//
// Threads: every call may be made from any thread at any time. The caller
// serialises calls that touch the same address range.
//
// Source: cuMemDiscardBatchAsync, cuMemPrefetchBatchAsync and cuMemAdvise of
// the CUDA driver API; files: DRAGON (SC'18).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DEVICEHINTS_H
#define DRAGON_RUNTIME_DEVICE_DEVICEHINTS_H

#include "runtime/base/Status.h"
#include "runtime/device/DeviceAddresses.h"
#include "runtime/device/DeviceQueues.h"

#include <span>

namespace dragon {

/// What the driver is told of a range of addresses; CUDA's cudaMemAdvise.
enum class Advice : uint8_t {
  ReadMostly,
  NotReadMostly,
  PreferDevice,
  PreferHost,
  PreferNone,
  AccessedByDevice,
  NotAccessedByDevice,
  AccessedByHost,
  NotAccessedByHost
};

/// A file for the driver to read and write under a reserved range.
struct DriverFile {
  int descriptor; ///< the driver keeps the file open
  uintptr_t base; ///< where the range begins, and the file's first byte
  size_t bytes;   ///< of the file
  unsigned flags; ///< D_READ, D_WRITE, MapHostBuffer
};
/// Among dragon_flags: what is evicted stays in host memory. For drivers alone.
constexpr unsigned MapHostBuffer = 0x20;

class DeviceHints {
public:
  DeviceHints(const DeviceHints &) = delete;
  DeviceHints &operator=(const DeviceHints &) = delete;

  // Ranges are in reserved addresses and do not overlap.
  /// Contents are dead, in the queue's order, until they are written again.
  /// Pages of which a part is in a range are left alone.
  Status discard(std::span<const AddressRange> ranges, Queue queue);
  /// Moves contents to the device, or to the host (Place::Host), in the queue's
  /// order. `dead`: they are discarded first, so nothing moves.
  Status prefetch(std::span<const AddressRange> ranges, Place place, bool dead,
                  Queue queue);
  Status advise(const AddressRange &range, Advice advice);
  /// Waits until what was mapped is there for work that this device does not
  /// see: a library's. copy, fill and launch need no such call.
  Status completeMaps();

  // -- Files that the driver reads and writes, for devices with mapsFiles
  /// Until the range is released, which writes what D_WRITE maps hold to the
  /// file's page cache. UNSUPPORTED: the driver cannot have it there.
  Status mapFile(const DriverFile &file);
  /// Other flags for a mapped file, which no work uses. Nothing is written
  /// before.
  Status remapFile(uintptr_t base, unsigned flags);

protected:
  /// `caps` is the device's; it may be set later.
  explicit DeviceHints(const DeviceCaps &caps) : Abilities(caps) {}
  ~DeviceHints() = default;

private:
  virtual Status discardImpl(std::span<const AddressRange> ranges, Queue queue);
  virtual Status prefetchImpl(std::span<const AddressRange> ranges, Place place,
                              bool dead, Queue queue);
  virtual Status adviseImpl(const AddressRange &range, Advice advice);
  virtual Status completeMapsImpl();
  virtual Status mapFileImpl(const DriverFile &file);
  virtual Status remapFileImpl(uintptr_t base, unsigned flags);

  const DeviceCaps &Abilities;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DEVICEHINTS_H
