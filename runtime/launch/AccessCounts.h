//===- AccessCounts.h - what launches were seen to access -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses to chunks (LinkCost.h) where no summary tells: by counting.
// Kernels that access data here and there have a copy that counts
// (KernelRecord::CountingName), for a sample of their threads, and here is what
// was counted, by kernel and shape of the launch. Later counts outweigh earlier
// ones by half each time: a search through a graph is elsewhere in every
// launch.
//
// When to count: often at first, ever more rarely later. When little is known
// it matters most, and launches that are few never come to the later ones.
//
// No device, no lock, no clock.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_ACCESSCOUNTS_H
#define DRAGON_RUNTIME_LAUNCH_ACCESSCOUNTS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

namespace dragon {

/// Parameters of a launch that counts: they follow those of the kernel.
struct AccessCounters {
  uintptr_t counters = 0; ///< an array of uint32_t
  uint64_t base = 0;      ///< the address that the first one is for
  uint64_t count = 0;
  uint32_t shift = 0;  ///< each is for so many bytes: 1 << shift
  uint32_t blocks = 0; ///< one of blocks + 1 counts,
  uint32_t lanes = 0;  ///< one of lanes + 1 threads of it

  /// Accesses of which each stands for how many.
  double scale() const { return double(blocks + 1) * double(lanes + 1); }
};

/// What counts in a launch, so that enough do and not many more.
void chooseSample(uint64_t blocks, uint32_t threadsPerBlock,
                  AccessCounters &counters);

class AccessCounts {
public:
  /// Each counter is for so many bytes.
  static constexpr uint32_t Shift = 21;
  /// What an access to host memory costs the link, as bytes in order: few
  /// accesses use all of what is fetched for them, and some share it.
  static constexpr double AccessBytes = 256;

  /// Such a launch begins. True: it should count.
  bool begins(uint64_t shape);
  /// It did.
  void counted(uint64_t shape, const AccessCounters &how,
               std::span<const uint32_t> counters);
  /// Access bytes of [begin, end) in such a launch; none: it has never counted.
  std::optional<double> accessBytes(uint64_t shape, uintptr_t begin,
                                    uintptr_t end) const;
  /// It has counted.
  bool known(uint64_t shape) const {
    const auto found = Shapes.find(shape);
    return found != Shapes.end() && found->second.known;
  }
  /// Addresses are others' now.
  void clear() { Shapes.clear(); }

private:
  struct Shape {
    uint64_t launches = 0;
    uint64_t next = 1; ///< the launch that counts next
    bool known = false;
    std::unordered_map<uintptr_t, double> byRange; ///< by address >> Shift
  };
  std::unordered_map<uint64_t, Shape> Shapes;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_ACCESSCOUNTS_H
