//===- LaunchCall.h - a kernel launch as the program asked for it *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What callers describe, before the runtime knows which buffers it is about.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHCALL_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHCALL_H

#include "dragon/CompilerABI.h"
#include "dragon/FootprintEval.h"
#include "runtime/device/Device.h"
#include "runtime/launch/FootprintCache.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dragon {

/// KernelHasPagedCopy: the copy, and what runs behind it (Paging.h).
struct PagedKernel {
  KernelHandle copy, writeBack, recycle, ahead;
};

/// A kernel as launched: its image and what the compiler said of it.
struct KernelInfo {
  KernelHandle handle;
  std::string name; ///< as the program's source has it; empty: the symbol
  const SummaryView *summary = nullptr; ///< null: nothing is known
  const KernelRecord *record = nullptr;
  /// Of the record; null: each footprint is evaluated.
  std::shared_ptr<FootprintCache> footprints;
  /// Its copy that counts accesses (AccessCounts.h), if it has one.
  std::optional<KernelHandle> counting;
  /// Its copy that fetches pages, if it has one.
  std::optional<PagedKernel> paged;
  /// Its copy for buffers that do not overlap (KernelHasRestrictCopy), if it
  /// has one, and the most threads that a block of that may have.
  std::optional<KernelHandle> restricted;
  /// Its copy that runs a part of a loop (KernelRecord::LoopName), if it has
  /// one.
  std::optional<KernelHandle> looped;
  /// The same of its copy that fetches pages; only with `paged` and `looped`.
  std::optional<KernelHandle> pagedLoop;
  uint32_t mostThreadsRestricted = 0;
  /// Fills in the copies that launches in core have no need of: to look them up
  /// takes longer than the first launch. Called by whoever may need one, each
  /// time; null: they are there.
  std::function<void()> findCopies = {};
};

/// One without code for a kernel that has none.
inline const PagedKernel &pagedCopyOf(const KernelInfo &kernel) {
  static const PagedKernel none{};
  return kernel.paged ? *kernel.paged : none;
}

/// The same of its copy that runs part of a loop and fetches pages.
inline const KernelHandle &pagedLoopOf(const KernelInfo &kernel) {
  static const KernelHandle none{};
  return kernel.pagedLoop ? *kernel.pagedLoop : none;
}

/// Contents; bytes: cut at the buffer's end.
struct LastUse {
  uintptr_t address;
  size_t bytes;
  /// Their memory is free then.
  bool eager = false;
  /// The compiler's; null: the program says so.
  const dragon_reason *why = nullptr;
};

struct LaunchCall {
  const KernelInfo *kernel;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamicSharedBytes;
  void **args;
  uint32_t numArgs; ///< 0 if there is no record
  bool cooperative;
  /// It may begin while the launch before it in the queue still runs, and waits
  /// for that itself (programmatic dependent launch: CUDA C++ Programming
  /// Guide). An order that is kept otherwise as well.
  bool programmatic;
  Queue queue;
  /// What nobody needs after the launch: parts of buffers.
  std::span<const LastUse> lastUses;
  /// Another launch in the queue follows, says the compiler.
  bool followed = false;
  uint64_t number = 0; ///< in the order of the program; the runtime's to set
  /// What its footprint depends on, as far as it is known (IndexArrays.h).
  std::shared_ptr<const KnownMemory> memory;
  /// LaunchDims::LoopEnds; 0: not known, or nobody has asked (LoopEnds.h).
  std::array<uint32_t, MaxLoops> loopEnds = {};
  std::array<uint32_t, MaxLoops> loopRounds = {};
};

/// Queues work that this runtime does not launch itself.
using QueueWork = std::function<Status()>;

/// The kernel's, for messages.
const char *nameOf(const LaunchCall &call);

/// The launch as the device wants it, but for what it touches.
LaunchRequest requestOf(const LaunchCall &call, const BlockBox &box);

inline LaunchDims dimsOf(const LaunchCall &call) {
  LaunchDims dims{{call.grid[0], call.grid[1], call.grid[2]},
                  {call.block[0], call.block[1], call.block[2]},
                  call.args,
                  call.memory.get()};
  std::copy(call.loopEnds.begin(), call.loopEnds.end(), dims.LoopEnds);
  std::copy(call.loopRounds.begin(), call.loopRounds.end(), dims.LoopRounds);
  return dims;
}
inline uint64_t threadsOfBlock(const LaunchCall &call) {
  return uint64_t(call.block[0]) * call.block[1] * call.block[2];
}
inline BlockBox wholeGrid(const LaunchCall &call) {
  return {{0, 0, 0}, {call.grid[0], call.grid[1], call.grid[2]}};
}
/// The grid in so many equal boxes along an axis, which has as many blocks.
std::vector<BlockBox> equalBoxes(const LaunchCall &call, size_t axis,
                                 uint32_t number);
/// The same along its longest axis, in `most` boxes if that has as many blocks.
std::vector<BlockBox> equalBoxes(const LaunchCall &call, uint32_t most);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHCALL_H
