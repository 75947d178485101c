//===- AccessCounting.h - launches that count their accesses ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch with chunks in host memory runs now and then as the kernel's copy
// that counts (AccessCounts.h). The counters, 2 MiB of the device's memory,
// enough for a range of 1 TiB, are set to zero in front of it and copied to the
// host behind it, both in the launch's queue: nobody waits for them. The first
// launch out of core that finds them there takes what they say, and gives their
// memory back.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_ACCESSCOUNTING_H
#define DRAGON_RUNTIME_LAUNCH_ACCESSCOUNTING_H

#include "runtime/launch/AccessCounts.h"
#include "runtime/launch/LaunchCache.h"
#include "runtime/launch/Submitter.h"
#include "runtime/memory/DeviceScratch.h"

#include <optional>
#include <vector>

namespace dragon {

class AccessCounting {
public:
  AccessCounting(Context &context, WorkTracker &time, AddressSpace &space,
                 HostSlabs &slabs, HostMemory &host, DeviceChunks &deviceChunks,
                 Submitter &submit)
      : Ctx(context), Time(time), Space(space), Slabs(slabs), Host(host),
        OnDevice(deviceChunks), Submit(submit), Memory(context, deviceChunks) {
    deviceChunks.addScratch([this] { return drop(); });
  }

  /// The launch is to count its accesses; none: it need not, or cannot now.
  std::optional<AccessCounters> begin(const LaunchCall &call,
                                      const LaunchFootprint &whole);
  /// Runs it, on the device, and queues what brings the counters.
  Status run(const ResolvedLaunch &launch, const AccessCounters &counters,
             std::vector<AddressRange> touched, bool anything);
  /// What was counted, once it is there.
  void collect();
  /// There are counters, which take memory.
  bool any() const { return Memory.any(); }
  /// Their memory goes back, once it is idle; false: there was none.
  bool drop();
  /// Bytes of accesses by use in planned.whole, counted or estimated.
  const std::vector<double> &accessBytes(const ResolvedLaunch &launch,
                                         PlannedLaunch &planned);
  /// They are counted.
  bool hasCounted(const ResolvedLaunch &launch) const;

private:
  Status make();

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  HostSlabs &Slabs;
  HostMemory &Host;
  DeviceChunks &OnDevice;
  Submitter &Submit;
  AccessCounts Counts;
  uint64_t Generation = 0; ///< of the allocations that Counts is of
  // For launches that count, one at a time.
  DeviceScratch Memory;                  ///< the counters
  Physical Results;                      ///< on the host
  bool Failed = false;                   ///< the device refused
  std::optional<AccessCounters> Pending; ///< of a launch that has counted
  uint64_t Shape = 0;                    ///< and what that was
  uint64_t Ticket = 0;                   ///< when its results are there
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_ACCESSCOUNTING_H
