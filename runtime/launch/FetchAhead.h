//===- FetchAhead.h - contents for launches to come -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch queues the copies of what it reads, and the host goes on to the next
// one: while it is ahead of the device, the link is busy. It is not where the
// host has to wait, and where launches run that have everything in place.
// There, what the next launches will read by the history (LaunchHistory.h) is
// fetched now, in the order in which they come. For it goes only what no queued
// work uses, leaves without a copy, and is needed later than what comes: as
// Belady's rule would have it, only earlier. So nothing moves that would not
// have moved, if the history is right. What is in files alone is read meanwhile
// (ReadAhead.h), and fetched when it has been.
//
// Where what will go has been written, its copy to host memory is queued ahead
// as well: the memory is free when it is wanted, and both directions of the
// link are busy at once. It is a few chunks, for what the next launches lack
// of what they read and of what they overwrite.
//
// Between two calls of the program, and while it waits for the device, another
// thread goes on with it (core/IdleFetch.h): a language model's host computes
// for milliseconds between two prompts.
//
// Source: Cao, Felten, Karlin, Li, "A study of integrated prefetching and
// caching strategies", 1995 (the aggressive strategy: fetch the next missing
// block whenever the link is free and a block that is needed later can go).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_FETCHAHEAD_H
#define DRAGON_RUNTIME_LAUNCH_FETCHAHEAD_H

#include "runtime/launch/NextUses.h"
#include "runtime/launch/StreamedChunks.h"
#include "runtime/memory/Residency.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace dragon {

class FetchAhead {
public:
  FetchAhead(Context &context, WorkTracker &time, AddressSpace &space,
             DeviceChunks &deviceChunks, Residency &resident, NextUses &next)
      : Ctx(context), Time(time), Space(space), OnDevice(deviceChunks),
        Resident(resident), Next(next),
        Streams(context, time, space, deviceChunks, next) {}

  /// A launch, or work of others, has been remembered (NextUses::remember).
  void remembered() { Streams.update(); }
  /// Fetches what it can. All launches and copies so far are queued.
  Status run();
  /// The same, one chunk, while the program makes no call. `more`: something
  /// is on its way, or can be fetched later. An error is run()'s next result.
  void step(bool &more);
  /// So often run() was called: the program is in calls while this grows. From
  /// any thread.
  uint64_t runs() const { return Runs.load(std::memory_order_relaxed); }
  /// Called by run() where copies are on their way: when they have come there
  /// will be room for others. To be set before there are calls.
  void setOnTheWay(std::function<void()> onTheWay) {
    OnTheWay = std::move(onTheWay);
  }
  /// Waits for the work in the queue (none: for all), and fetches meanwhile.
  Status wait(std::optional<Queue> queue);

private:
  /// No more than so many bytes.
  Status fetch(uint64_t limit);
  struct Leaving {
    EvictionCandidate candidate;
    Chunk *chunk;
  };
  /// What the next launches read and is not on the device, in their order.
  struct Missing {
    std::vector<ChunkUse> atHand;   ///< in host memory, or read from storage
    std::vector<Chunk *> inStorage; ///< to be read
    /// Device memory for that and for what they overwrite, and who is the last
    /// to need it.
    uint64_t room = 0;
    const Chunk *last = nullptr;
  };
  /// Bytes on their way, by their tickets in a log.
  using UnderWay = std::deque<std::pair<uint64_t, uint64_t>>;

  /// Of what they read no more than `most` bytes, and room for `mostRoom`.
  Missing missing(uint64_t most, uint64_t mostRoom) const;
  /// Chunks that queued work does not use, and that may go.
  std::vector<Leaving> idle();
  /// Those that are needed later than at the clock, by their numbers.
  static std::vector<EvictionCandidate>
  neededLater(std::span<const Leaving> idle, uint64_t clock);
  /// Queues copies of what will leave for what is missing.
  Status copyOut(const Missing &missing, std::span<const Leaving> leaving);
  /// Makes room for the chunk; false: nothing may leave for it.
  StatusOr<bool> makeRoomFor(const Chunk &chunk, std::vector<Leaving> &idle);
  static uint64_t bytesOf(UnderWay &moves, WorkLog &log);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  DeviceChunks &OnDevice;
  Residency &Resident;
  NextUses &Next;
  StreamedChunks Streams;
  UnderWay Coming;    ///< what was fetched
  UnderWay Departing; ///< what was copied to host memory
  /// Nothing was missing for the launches up to this one.
  uint64_t SeenUntil = 0;
  std::atomic<uint64_t> Runs = 0;
  std::function<void()> OnTheWay;
  Status Failed; ///< of step()
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_FETCHAHEAD_H
