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
// Of a long array (the ends of a matrix's rows, the neighbours of cells) the
// ranges of its numbers are kept, zone by zone (NumberZones.h): a slice of the
// grid then needs what its part of the array says. It is read where what it
// leads to is much larger, and where blocks need much less if it is as a sample
// of its zones says; a random permutation tells nothing.
//
// That the array does not change while the launch runs is the program's
// business where others write it, as for any data that a kernel reads. Where
// the launch itself may write it, its numbers tell nothing.
//
// The device goes through its queue to the end meanwhile; what later launches
// need is fetched in that time (FetchAhead.h). What was read is remembered
// until something writes there (Contents::isUnchanged), and nobody waits again.
// Nor does anybody for an array that is in host memory, or that the program has
// copied from there (CopiedContents.h).
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
#include "runtime/launch/ZoneReader.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dragon {

class IndexArrays {
public:
  IndexArrays(Context &context, WorkTracker &time, AddressSpace &space,
              Contents &data, CopiedContents &copied,
              DeviceChunks &deviceChunks, Transfers &moves, FetchAhead &ahead)
      : Ctx(context), Time(time), Space(space), Data(data), Copied(copied),
        OnDevice(deviceChunks), Ahead(ahead),
        Zones(context, time, space, data, copied, moves) {}

  /// There are arrays to read(), and their numbers would spare something. A
  /// long one is none that launches write which wait to run together with this
  /// one: `isComing` says so of an address.
  bool tellMore(const ResolvedLaunch &launch,
                const std::function<bool(uint64_t)> &isComing);
  /// Reads them: the launch knows its memory then, but for what it may write.
  /// All launches before it are queued.
  Status read(ResolvedLaunch &launch);

private:
  /// An array may say where another one lies: so often at most.
  static constexpr unsigned MostRounds = 3;
  static constexpr size_t MaxEntries = 8192;

  static constexpr size_t MaxRead = 64;

  static constexpr size_t MaxArrays = 16;
  /// What an array leads to has so many times its bytes, or it is not read.
  static constexpr uint64_t LeastGain = 2;

  /// What a launch would have to know beside what it does, in our buffers.
  struct Wanted {
    std::vector<MemoryRange> ranges; ///< ascending, disjoint
    std::vector<NumberPlaces> arrays;
  };
  const Wanted &wanted(const ResolvedLaunch &launch);
  Wanted evaluated(const ResolvedLaunch &launch) const;
  /// The launch does not write there, and the last look at it told something.
  bool isWorth(const ResolvedLaunch &launch, const NumberPlaces &array);
  bool isWritten(const ResolvedLaunch &launch, uint64_t address) const;

  /// As they are when what is queued so far is done. `waited`: it is.
  StatusOr<KnownMemory::Part> contentsOf(const MemoryRange &range, Queue queue,
                                         bool &waited);
  /// The number of these contents; the same as the last time they were there.
  uint64_t numberOf(const KnownMemory::Part &part);
  /// What a long array may hold, after a look at a few of its zones.
  StatusOr<KnownMemory::Array> sampled(const NumberPlaces &places, Queue queue);
  StatusOr<KnownMemory::Array> whole(const NumberPlaces &places, Queue queue);
  /// What a few blocks may touch of what arrays lead to, if that is known.
  uint64_t bytesOfBlocks(const ResolvedLaunch &launch,
                         const KnownMemory &memory) const;
  /// Reads those that tell something.
  Status addArrays(KnownMemory &known, const ResolvedLaunch &launch,
                   std::vector<NumberPlaces> arrays, bool &waited,
                   uint64_t &bytes);
  Status addRange(KnownMemory &known, MemoryRange range, Queue queue,
                  bool &waited, uint64_t &bytes);
  /// Before the range is read, which may be where it can be read at once.
  Status waitFor(AddressRange range, Queue queue, bool &waited);
  bool canRemember(uint64_t address) const;
  /// What the launch may write is known no more.
  void dropWritten(ResolvedLaunch &launch);
  bool mayWrite(const ResolvedLaunch &launch, const MemoryRange &range) const;
  void forgetOld();

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  Contents &Data;
  CopiedContents &Copied;
  DeviceChunks &OnDevice;
  FetchAhead &Ahead;
  ZoneReader Zones;

  /// By footprint keys, of the allocations of this generation.
  std::unordered_map<std::string, Wanted> Asked;
  /// What was read last, for as long as nothing writes there: the next kernels
  /// of a layer go to the same experts.
  struct ReadPart {
    KnownMemory::Part part;
    uint64_t remembered; ///< Contents::remember()
  };
  std::vector<ReadPart> Read;
  struct LongArray {
    NumberPlaces places;
    KnownMemory::Array array;
    uint64_t remembered;
  };
  std::vector<LongArray> Arrays;
  std::vector<KnownMemory::Part> Named; ///< the last used are the last
  uint64_t LastNumber = 0;              ///< of a part or an array that was read
  /// Arrays that told nothing, by address: looked at again when they have
  /// changed and so many launches have come, twice as many each time.
  struct Idle {
    uint64_t launches = 1;
    uint64_t left = 1;
    uint64_t end = 0; ///< of the array
    uint64_t remembered = 0;
  };
  std::unordered_map<uint64_t, Idle> Useless;
  /// Buffers, by address, in which kernels may write what they look into.
  std::set<std::pair<const KernelRecord *, uintptr_t>> Written;
  FootprintKeys Keys;
  uint64_t Generation = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_INDEXARRAYS_H
