//===- SlicePlanner.h - how launches run in slices --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers what a plan depends on: budgets, footprints of boxes, rates of the
// link and access counts. The decision itself is LaunchPlanner's, which is
// pure. What was found is kept with the launch (LaunchCache.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SLICEPLANNER_H
#define DRAGON_RUNTIME_LAUNCH_SLICEPLANNER_H

#include "runtime/launch/AccessCounting.h"
#include "runtime/launch/LoopState.h"
#include "runtime/launch/NextUses.h"
#include "runtime/launch/PageCache.h"
#include "runtime/launch/WaitingLaunch.h"
#include "runtime/memory/HostMapping.h"

namespace dragon {

class SlicePlanner {
public:
  SlicePlanner(Context &context, AddressSpace &space, HostSlabs &slabs,
               DeviceChunks &deviceChunks, HostMapping &mapping, NextUses &next,
               AccessCounting &counting, PageCache &pages, LoopState &loopState)
      : Ctx(context), Space(space), Slabs(slabs), OnDevice(deviceChunks),
        Mapping(mapping), Next(next), Counting(counting), Pages(pages),
        State(loopState) {}

  LaunchCache Plans;

  /// How the launch runs in slices of this size. What is found is kept in
  /// `planned`.
  const Slicing &slicingOf(const ResolvedLaunch &launch, PlannedLaunch &planned,
                           SliceSize size = {});
  /// Equal pieces, if they use different parts; else one that cannot run.
  const Slicing &evenSlicingOf(const ResolvedLaunch &launch,
                               PlannedLaunch &planned, uint32_t pieces);
  /// The slices of launches that run together; of their own if there is no
  /// smaller way.
  const Slicing &fineSlicingOf(const WaitingLaunch &waiting,
                               const WaveCut &cut);
  /// Device memory that a launch may take: what nobody else holds for longer.
  uint64_t deviceBytesFor(const PlannedLaunch &planned) const;
  /// For what of a launch is not on the device.
  HostRoom hostRoom() const {
    return {Slabs.stayingBytes(), Slabs.Peers.budget()};
  }
  /// What of the launch does not fit on the device has room on peers, where
  /// kernels reach it.
  bool fitsWithPeers(const PlannedLaunch &planned) const;
  /// The rates at which such a launch moves and reaches what does not fit.
  LinkRates ratesFor(const PlannedLaunch &planned) const;
  static PlacedChunk placedOf(const ChunkUse &use, double accessBytes);

private:
  /// The rates of the link to the host, as measured or as is usual.
  LinkRates linkRates() const;
  /// A launch that fits, and could go through less of the device. What data say
  /// is planned anew each time they say something else, for little.
  bool isWorthSparing(const PlannedLaunch &planned, uint64_t budget) const;
  void setLoop(const ResolvedLaunch &launch, PlanInput &input) const;

  Context &Ctx;
  AddressSpace &Space;
  HostSlabs &Slabs;
  DeviceChunks &OnDevice;
  HostMapping &Mapping;
  NextUses &Next;
  AccessCounting &Counting;
  PageCache &Pages;
  LoopState &State;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SLICEPLANNER_H
