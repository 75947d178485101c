//===- ComputedContents.h - contents that arguments determine ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some contents the host must know before it can go on: the pointers of a
// batched matrix product, which a small kernel computes. To read them it waits
// for all that is queued, and the device is idle until the next launch comes.
// But such a kernel reads nothing (KernelFollowsArguments): the same launch
// writes the same bytes. They are read once and kept by the launch that wrote
// them; from then on it is enough to know that this launch was the last to
// write there (Contents::isUnchanged).
//
// In memory that is none of our buffers (a pool that the program maps itself,
// cuMemMap) writes are not seen. There, what the launch wrote is known until
// other work or another call of the CUDA API follows it, which may write there.
//
// Nothing is kept before somebody reads contents at all.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_COMPUTEDCONTENTS_H
#define DRAGON_RUNTIME_LAUNCH_COMPUTEDCONTENTS_H

#include "runtime/launch/ResolvedLaunch.h"
#include "runtime/memory/Contents.h"
#include "runtime/memory/WorkTracker.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace dragon {

class ComputedContents {
public:
  ComputedContents(WorkTracker &time, AddressSpace &space, Contents &data)
      : Time(time), Space(space), Data(data) {}

  /// What it writes somebody will ask for: it is to be queued at once, and not
  /// to wait for other launches.
  bool isWanted(const ResolvedLaunch &launch);
  /// Work is queued, or the program calls what may queue some: it may write to
  /// memory that is none of ours. From any thread.
  void otherWork() { Work.fetch_add(1, std::memory_order_relaxed); }
  /// All of the launch is queued, and nothing behind it.
  void launched(const ResolvedLaunch &launch);
  /// What lies there once all that is queued is done; empty: it is not known.
  /// Valid until the next call.
  std::span<const char> find(uintptr_t begin, size_t bytes);
  /// That is what find() was asked for, and did not know. Without effect where
  /// another thread has launched something meanwhile.
  void learn(uintptr_t begin, std::span<const char> contents);

private:
  /// What a launch writes, whoever waits for it, and what has been read of it.
  struct Written {
    std::vector<AddressRange> ranges;
    std::map<AddressRange, std::vector<char>,
             bool (*)(const AddressRange &, const AddressRange &)>
        read{isBefore};
  };
  struct Place {
    AddressRange range;
    std::shared_ptr<Written> by;
    uint64_t remembered; ///< Contents::remember(); 0: none of our memory
    uint64_t work;       ///< then: Work, as long as nothing has followed
  };
  static bool isBefore(const AddressRange &a, const AddressRange &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  }
  std::vector<AddressRange> writtenBy(const ResolvedLaunch &launch) const;
  bool isAsWritten(const Place &place) const;
  /// Null: nothing that arguments determine, or nobody has asked for such yet.
  std::shared_ptr<Written> writtenOnce(const ResolvedLaunch &launch);
  /// Who wrote all of it; null: not known.
  Written *writerOf(const AddressRange &range);

  static constexpr size_t MaxLaunches = 1024, MaxPlaces = 32;
  /// Arrays of pointers are short.
  static constexpr size_t MostBytes = size_t(1) << 16;

  WorkTracker &Time;
  AddressSpace &Space;
  Contents &Data;
  bool Wanted = false;
  std::atomic<uint64_t> Work = 0; ///< what may have written anywhere
  uint64_t AskedAt = 0;           ///< Work, when find() was asked
  std::unordered_map<std::string, std::shared_ptr<Written>> Launches;
  uint64_t Generation = 0;   ///< of the allocations, for Launches
  std::vector<Place> Places; ///< the latest last
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_COMPUTEDCONTENTS_H
