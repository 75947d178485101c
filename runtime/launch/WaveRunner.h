//===- WaveRunner.h - launches that wait run together -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which launches wait, and what happens once they run: in waves of as many as
// move the least, in slices that are small enough for several of each launch to
// be on the device, or, where that gains nothing, one after the other as if
// they had not waited.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_WAVERUNNER_H
#define DRAGON_RUNTIME_LAUNCH_WAVERUNNER_H

#include "runtime/launch/LaunchRunner.h"
#include "runtime/launch/Wavefront.h"

#include <atomic>
#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

namespace dragon {

class WaveRunner {
public:
  WaveRunner(Context &context, DeviceChunks &deviceChunks, Residency &resident,
             NextUses &next, LastUses &ends, SlicePlanner &plans,
             SliceRunner &slices, LaunchRunner &launches)
      : Ctx(context), OnDevice(deviceChunks), Resident(resident), Next(next),
        Ends(ends), Plans(plans), Slices(slices), Single(launches) {}

  /// A launch comes: the one before it was followed by it, or was not.
  void noteFollower(Queue queue);
  /// It is the one before the next.
  void noteLast(std::shared_ptr<PlannedLaunch> planned, Queue queue);
  /// It has been submitted, or waits.
  void noteEnd() { LastEnd = std::chrono::steady_clock::now(); }
  /// Something else is called: may be said without the lock.
  void interrupt() { Interrupted = true; }

  /// Nobody can tell whether it has run who does not call something else.
  bool mayWait(const ResolvedLaunch &launch) const;
  /// The launch waits if it can be cut; true: it does, and has run if it was
  /// the last one that was to wait.
  StatusOr<bool> wait(WaitingLaunch launch, bool followed);
  bool any() const { return !Launches.empty(); }
  /// One that waits may write to the buffer that this address is in.
  bool mayWrite(uint64_t address) const;
  /// Launches wait, or are being submitted. May be read without the lock.
  bool anyAtAll() const { return Any; }
  /// There are some.
  Queue queue() const { return Launches.front().queue(); }
  /// Nobody needs the contents behind those that wait.
  void addLastUse(LastUse use) { Launches.back().addLastUse(use); }
  Status runAll();

private:
  /// Slices and the chunks of these, by number.
  struct Wave {
    std::unordered_map<const PlannedLaunch *, WaveSlices> slices;
    std::vector<WaveLaunch> launches; ///< refer to `slices`
    std::vector<uint64_t> chunkBytes;
  };
  class Numbering;
  Status runOne(const WaitingLaunch &launch);
  Status runTogether(std::span<const WaitingLaunch> launches,
                     const WaveCut &cut);
  Status endLastUses(std::span<const WaitingLaunch> launches);
  /// In slices or at once, together with others.
  bool mayBeCut(const WaitingLaunch &launch);
  /// While nobody knows yet who runs together: what the first of them reads
  /// first, into memory that nobody uses.
  Status fetchForFirst(const WaitingLaunch &launch);
  WaveCut cutOf(std::span<const WaitingLaunch> launches, SliceSize size);
  WaveSlices slicesOf(const WaitingLaunch &launch, const WaveCut &cut,
                      Numbering &numbering);
  Wave waveOf(std::span<const WaitingLaunch> launches, const WaveCut &cut);
  Waves howTogether(std::span<const WaitingLaunch> launches);
  Waves planWaves(std::span<const WaitingLaunch> launches);

  Context &Ctx;
  DeviceChunks &OnDevice;
  Residency &Resident;
  NextUses &Next;
  LastUses &Ends;
  SlicePlanner &Plans;
  SliceRunner &Slices;
  LaunchRunner &Single;

  std::vector<WaitingLaunch> Launches; ///< in one queue
  /// The waves in which such launches ran, by their plans and what died.
  std::unordered_map<std::string, Waves> Known;
  uint64_t Generation = 0; ///< of the plans
  /// The launch before, in what queue and when it returned.
  std::shared_ptr<PlannedLaunch> Last;
  Queue LastQueue = nullptr;
  std::chrono::steady_clock::time_point LastEnd;
  /// Something else was called since then.
  std::atomic<bool> Interrupted{false};
  std::atomic<bool> Any{false};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_WAVERUNNER_H
