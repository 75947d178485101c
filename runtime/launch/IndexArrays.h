//===- IndexArrays.h - arrays that say where a launch goes ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index that is loaded from memory could be any: the launch would need the
// whole buffer. Often it comes from a small array that is there when the launch
// comes: the experts of a token, the rows that are gathered or appended, the
// blocks of a cache. Where not all is in place, the host then waits for what
// may write the array, reads it, and the footprint is that of these numbers.
// What the array leads to may hold further indices: it is read, too.
//
// That the array does not change while the launch runs is the program's
// business where others write it, as for any data that a kernel reads. Where
// the launch itself may write it, its numbers tell nothing.
//
// The device goes through its queue to the end meanwhile; what later launches
// need is fetched in that time (FetchAhead.h). What was read is remembered
// until something writes there (Contents::isUnchanged), and nobody waits again.
//
// Source: inspector and executor of Saltz, Mirchandaney, Crowley, "Run-time
// parallelization and scheduling of loops", 1991: what a loop over indirect
// accesses touches is found out when it is reached.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_INDEXARRAYS_H
#define DRAGON_RUNTIME_LAUNCH_INDEXARRAYS_H

#include "runtime/launch/FetchAhead.h"
#include "runtime/launch/LaunchKey.h"
#include "runtime/memory/Transfers.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace dragon {

class IndexArrays {
public:
  IndexArrays(Context &context, WorkTracker &time, AddressSpace &space,
              Contents &data, DeviceChunks &deviceChunks, Transfers &moves,
              FetchAhead &ahead)
      : Ctx(context), Time(time), Space(space), Data(data),
        OnDevice(deviceChunks), Moves(moves), Ahead(ahead) {}

  /// There are arrays to read(), and their numbers would spare something.
  bool tellMore(const ResolvedLaunch &launch);
  /// Reads them: the launch knows its memory then. All launches before it are
  /// queued. It does not if it may write an array, or the arrays are too large
  /// together.
  Status read(ResolvedLaunch &launch);

private:
  /// An array may say where another one lies: so often at most.
  static constexpr unsigned MostRounds = 3;
  static constexpr size_t MaxEntries = 8192;

  static constexpr size_t MaxRead = 64;

  using Ranges = std::vector<MemoryRange>;
  /// What the launch would have to know beside what it does: ascending,
  /// disjoint, in our buffers; none if there is too much of it.
  const Ranges &wanted(const ResolvedLaunch &launch);
  Ranges evaluated(const ResolvedLaunch &launch) const;
  /// As they are when what is queued so far is done. `waited`: it is.
  StatusOr<KnownMemory::Part> contentsOf(const MemoryRange &range, Queue queue,
                                         bool &waited);
  bool mayWrite(const ResolvedLaunch &launch, const KnownMemory &memory) const;
  void forgetOld();

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  Contents &Data;
  DeviceChunks &OnDevice;
  Transfers &Moves;
  FetchAhead &Ahead;

  /// By footprint keys, of the allocations of this generation.
  std::unordered_map<std::string, Ranges> Asked;
  /// What was read last, for as long as nothing writes there: the next kernels
  /// of a layer go to the same experts.
  std::vector<KnownMemory::Part> Read;
  /// Kernels that may write what they look into.
  std::unordered_set<const KernelRecord *> Writers;
  FootprintKeys Keys;
  uint64_t Generation = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_INDEXARRAYS_H
