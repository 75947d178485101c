//===- LinkCost.h - what ways to run a launch cost the link -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk can be copied to the device, once for all accesses, or stay in host
// memory, where each access crosses the link: each time a block touches it, for
// what blocks read from host memory is kept for none of the others. The bytes
// that cross it in one launch are a chunk's access bytes. So a chunk goes to
// the device if they are many, and how many is a matter of the rates. An
// example: all 300 block rows of a matrix product read all of B. A chunk of B
// in host memory costs what 300 copies of it cost; one of C, written once,
// costs as much as a copy.
//
// Memory that kernels can be given is slow to make on some devices: to map what
// has never been mapped costs as much as many copies.
//
// Pure: no device, no lock, no clock.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LINKCOST_H
#define DRAGON_RUNTIME_LAUNCH_LINKCOST_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dragon {

/// Bytes a second; the defaults are those of a PCIe 5 link, for where none have
/// been measured.
struct LinkRates {
  double toDevice = 53e9; ///< copies
  double toHost = 53e9;
  double mapped = 45e9; ///< accesses of kernels to host memory, in order
  double mapping = 2e9; ///< to move contents to memory that can be mapped
};

/// A launch that has come so often will come as often again.
/// Of the link to a peer: measured with two H200s and 18 NVLinks, chunks of 32
/// MiB. A chunk takes 85 us to copy, and 115 to be mapped on the one side and
/// unmapped on the other.
constexpr LinkRates PeerRates{170e9, 170e9, 370e9, 1e12};

constexpr uint32_t MostForeseen = 16;

/// What kernels get of a link that copies at such a rate.
constexpr double MappedShare = 0.85;

/// Accesses here and there, a few bytes each, take the link this much longer
/// than as many bytes in order.
constexpr double ScatteredCost = 16;

/// A chunk of a launch that may be in either place.
struct PlacedChunk {
  uint64_t bytes = 0;
  double accessBytes = 0; ///< bytes over the link in a launch, from host memory
  bool mustStay = false;  ///< on the device: updated atomically, or held
  bool onDevice = false;  ///< its contents are there now
  bool copied = true;     ///< its contents move when it changes its place
  bool mappable = false;  ///< it is, or has memory that can be mapped
  bool hostOnly = false;  ///< peers cannot have it: the host accesses it
};

/// Where chunks may be that are not on the device.
struct HostRoom {
  uint64_t host = 0;  ///< bytes of host memory
  uint64_t peers = 0; ///< of peers' memory, for those that may be there
  uint64_t bytes() const { return host + peers; }
  /// So many bytes of chunks, and of those that peers cannot have.
  bool holds(uint64_t all, uint64_t hostOnly) const {
    return all <= bytes() && hostOnly <= host;
  }
  bool operator==(const HostRoom &) const = default;
};

/// What `launches` such launches save if the chunk is on the device, in seconds
/// of the link; what it takes to get it there, or away, is taken into account.
double gainOnDevice(const PlacedChunk &chunk, const LinkRates &rates,
                    double launches);

/// Which chunks should be on the device, of which `budget` bytes fit: those
/// with the largest gain for each byte. Equal ones in their order. Those that
/// must stay come first; false for one of them means that they do not fit.
std::vector<bool> chooseForDevice(std::span<const PlacedChunk> chunks,
                                  uint64_t budget, const LinkRates &rates,
                                  double launches);

/// The same where the others are in host memory: none of the two has more than
/// its budget. Those with the largest gain, if that leaves no more than the
/// host holds; else as many as fit, mostly those that are there. Whether there
/// is a choice is a matter of sizes, of what must stay, and of what peers can
/// have, alone: what the planner finds possible is so when the launch runs.
std::optional<std::vector<bool>>
choosePlaces(std::span<const PlacedChunk> chunks, uint64_t deviceBudget,
             const HostRoom &host, const LinkRates &rates, double launches);

/// A way to run a launch, and what it would move.
struct LaunchCost {
  const char *name;    ///< a literal: "sliced"
  uint64_t copied = 0; ///< bytes, chunks that come more than once each time
  double mapped = 0;   ///< bytes that kernels access over the link
  double seconds = 0;  ///< at the rates
  bool possible = false;
  uint64_t parts = 1;
  uint64_t converted = 0; ///< bytes that get memory that can be mapped
};

double secondsOf(const LaunchCost &cost, const LinkRates &rates);

/// "sliced in 12 (copies 3 GiB, 0.06 s)", for people.
std::string describe(const LaunchCost &cost);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LINKCOST_H
