//===- Ledger.h - every byte moved, and every byte not moved -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Always on, and exact but for what kernels access over the link: one atomic
// addition per transfer. Directions name tiers; causes say why. Read by
// DRAGON_STATS, dragon_stats and the tests.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_LEDGER_H
#define DRAGON_RUNTIME_BASE_LEDGER_H

#include "dragon/dragon.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace dragon {

enum class Direction : uint8_t {
  FileToHost,
  HostToDevice,
  DeviceToHost,
  HostToFile,
  SwapToHost,
  HostToSwap,
  DeviceToDevice,
  DeviceToPeer, ///< memory of another device
  PeerToDevice,
  PeerToHost,
  HostToPeer
};
constexpr unsigned NumDirections = 11;

enum class Cause : uint8_t {
  Demand,   ///< a launch or copy needs it now
  Prefetch, ///< ahead of need
  Eviction, ///< to make room
  Sync,     ///< written out because the program asked (fwrite, dragon_sync)
  Copy,     ///< the program's own cudaMemcpy
  HostAccess,
  Paging ///< kernels fetched it, or wrote it, page by page
};
constexpr unsigned NumCauses = 7;

/// Why bytes were not moved that a fault-driven or plain run would have moved.
enum class Avoided : uint8_t {
  ReadOnly,  ///< a copy out on eviction: mapped read-only
  WriteOnly, ///< a copy in: about to be fully overwritten
  Discard,   ///< dead contents
  Clean,     ///< a copy out: unchanged since it came in
  Staging,   ///< through a staging buffer: host memory reads and writes elided
  Deferred   ///< host memory to host memory: fetched from the program's instead
};
constexpr unsigned NumAvoided = 6;

/// Bytes that kernels accessed in host memory themselves, about: estimated from
/// what launches were seen or are expected to access, or counted by look-up.
enum class OverLink : uint8_t { HostMapped, Mixed, Paged };
constexpr unsigned NumOverLink = 3;

enum class Counter : uint8_t {
  Launches,
  SlicedLaunches,
  Slices,
  ForeseenLaunches, ///< came as the launches before had led to expect
  MixedLaunches,    ///< sliced, with some chunks in host memory
  HostMappedLaunches,
  PagedLaunches,    ///< of those, by which pages were fetched
  CountedLaunches,  ///< of those, that counted their accesses
  LaunchesTogether, ///< ran slice by slice with others
  Evictions,
  HostFaults,
  BufferedFallbacks
};
constexpr unsigned NumCounters = 12;

/// Thread-safe. Bytes are those of the buffers (a last, partial chunk counts
/// what it holds). Nanoseconds are summed over transfers that may overlap.
class Ledger {
public:
  void moved(Direction direction, Cause cause, uint64_t bytes,
             uint64_t nanoseconds = 0) {
    Cell &cell = Moved[unsigned(direction)][unsigned(cause)];
    cell.Bytes.fetch_add(bytes, std::memory_order_relaxed);
    cell.Nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
  void avoided(Avoided cause, uint64_t bytes) {
    AvoidedBytes[unsigned(cause)].fetch_add(bytes, std::memory_order_relaxed);
  }
  /// They had to be moved after all.
  void notAvoided(Avoided cause, uint64_t bytes) {
    AvoidedBytes[unsigned(cause)].fetch_sub(bytes, std::memory_order_relaxed);
  }
  void accessed(OverLink way, uint64_t bytes) {
    Accessed[unsigned(way)].fetch_add(bytes, std::memory_order_relaxed);
  }
  void count(Counter counter, uint64_t n = 1) {
    Counters[unsigned(counter)].fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t bytes(Direction direction, Cause cause) const {
    return Moved[unsigned(direction)][unsigned(cause)].Bytes.load();
  }
  uint64_t bytes(Direction direction) const {
    uint64_t sum = 0;
    for (const Cell &cell : Moved[unsigned(direction)])
      sum += cell.Bytes.load();
    return sum;
  }
  uint64_t nanoseconds(Direction direction, Cause cause) const {
    return Moved[unsigned(direction)][unsigned(cause)].Nanoseconds.load();
  }
  uint64_t avoided(Avoided cause) const {
    return AvoidedBytes[unsigned(cause)].load();
  }
  uint64_t accessed(OverLink way) const {
    return Accessed[unsigned(way)].load();
  }
  uint64_t counter(Counter which) const {
    return Counters[unsigned(which)].load();
  }

private:
  struct Cell {
    std::atomic<uint64_t> Bytes{0};
    std::atomic<uint64_t> Nanoseconds{0};
  };
  std::array<std::array<Cell, NumCauses>, NumDirections> Moved;
  std::array<std::atomic<uint64_t>, NumAvoided> AvoidedBytes{};
  std::array<std::atomic<uint64_t>, NumOverLink> Accessed{};
  std::array<std::atomic<uint64_t>, NumCounters> Counters{};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_LEDGER_H
