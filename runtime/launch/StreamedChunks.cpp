//===- StreamedChunks.cpp - what comes and goes in each period ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StreamedChunks.h"

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <unordered_map>

namespace dragon {

namespace {
/// Launches go round if so many of the last 64 are what they were.
constexpr unsigned Enough = 32;
/// A round of fewer launches has its slices to overlap with.
constexpr size_t ShortestPeriod = 16;
/// A launch that uses this part of the device's memory runs in slices, perhaps.
constexpr uint64_t LargeShare = 2;
/// This part of the device's memory is left to those that come, and so many
/// chunks at least: one is worked on, one has been, and two are on their way.
constexpr uint64_t RingShare = 24;
constexpr uint64_t RingChunks = 4;
/// A chunk is used in one part of the round if that is no more of it.
constexpr size_t PartOfPeriod = 4;
} // namespace

/// Flips `streams` of those that `may`, which are of `all` bytes, at equal
/// distances, until that is `bytes`.
template <typename May>
static void flipEvenly(std::span<PeriodicChunk> chunks, uint64_t all,
                       uint64_t bytes, May may) {
  double due = 0, taken = 0;
  for (PeriodicChunk &chunk : chunks) {
    if (!may(chunk))
      continue;
    const auto own = double(chunk.bytes);
    due += own * double(bytes) / double(all);
    if (due - taken < own / 2)
      continue;
    chunk.streams ^= true;
    taken += own;
  }
}

void chooseStreamed(std::span<PeriodicChunk> chunks, size_t period,
                    uint64_t room, uint64_t ring) {
  auto canStream = [period](const PeriodicChunk &chunk) {
    return chunk.clean && chunk.span(period) <= period / PartOfPeriod;
  };
  uint64_t all = 0, able = 0, chosen = 0;
  for (PeriodicChunk &chunk : chunks) {
    chunk.streams &= canStream(chunk);
    all += chunk.bytes;
    able += canStream(chunk) ? chunk.bytes : 0;
    chosen += chunk.streams ? chunk.bytes : 0;
  }
  const uint64_t wanted = all > room ? all - room + ring : 0;
  if (!wanted || wanted >= able) {
    for (PeriodicChunk &chunk : chunks)
      chunk.streams = false;
  } else if (chosen + ring / 2 < wanted) {
    flipEvenly(chunks, able - chosen, wanted - chosen,
               [&](const PeriodicChunk &chunk) {
                 return canStream(chunk) && !chunk.streams;
               });
  } else if (chosen > wanted + 2 * ring) {
    flipEvenly(chunks, chosen, chosen - wanted,
               [](const PeriodicChunk &chunk) { return chunk.streams; });
  }
}

struct StreamedChunks::Used {
  Chunk *chunk;
  PeriodicChunk as;
};

std::vector<StreamedChunks::Used> StreamedChunks::usedInPeriod() const {
  std::vector<Used> used;
  std::unordered_map<const Chunk *, size_t> numbers;
  const uint64_t most = OnDevice.Pool.budget() / LargeShare;
  size_t launch = 0;
  bool tooLarge = false;
  auto add = [&](Chunk &chunk) {
    if (chunk.buffer->driverMoved)
      return false; // not ours to move
    const auto [known, isNew] = numbers.try_emplace(&chunk, used.size());
    if (isNew)
      used.push_back({&chunk,
                      {chunk.bytes(),
                       (chunk.copies.host || chunk.copies.storage) &&
                           !chunk.hostMapped && !chunk.buffer->kept,
                       chunk.streams, launch, launch}});
    used[known->second].as.add(launch);
    return true;
  };
  Next.history().forPeriod([&](const LaunchHistory::Addresses &addresses) {
    uint64_t bytes = 0;
    for (const auto *ranges : {&addresses.uses, &addresses.overwrites})
      for (const AddressRange &range : *ranges) {
        bytes += range.end - range.begin;
        if (bytes <= most)
          Space.Allocations.forEachChunk(range, add);
      }
    tooLarge |= bytes > most;
    ++launch;
  });
  if (tooLarge)
    used.clear();
  return used;
}

void StreamedChunks::forget() {
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    for (Chunk &chunk : buffer->chunks)
      chunk.streams = false;
  Period = 0;
  OnDevice.AnyStream = false;
}

void StreamedChunks::update() {
  const LaunchHistory &history = Next.history();
  const size_t period = history.period();
  const bool repeats =
      Time.Tracking && history.repeated() >= Enough && period >= ShortestPeriod;
  OnDevice.GoesRound = repeats && 2 * period >= Period;
  bool sure = repeats && period == Period;
  if (repeats && Ctx.launches >= LookAgain) {
    LookAgain = Ctx.launches + period;
    sure = choose(period);
  }
  if (sure)
    LastSure = Ctx.launches;
  else if (Period && Ctx.launches > LastSure + 2 * Period)
    forget(); // it does something else now
}

bool StreamedChunks::choose(size_t period) {
  std::vector<Used> used = usedInPeriod();
  std::vector<PeriodicChunk> chunks;
  chunks.reserve(used.size());
  for (const Used &one : used)
    chunks.push_back(one.as);
  uint64_t largest = 0;
  for (const PeriodicChunk &chunk : chunks)
    largest = std::max(largest, chunk.bytes);
  const uint64_t room = OnDevice.Pool.budget();
  chooseStreamed(chunks, period, room,
                 std::max(room / RingShare, RingChunks * largest));
  uint64_t streams = 0, all = 0;
  for (size_t i = 0; i < used.size(); ++i) {
    all += chunks[i].bytes;
    streams += chunks[i].streams ? chunks[i].bytes : 0;
  }
  if (!streams && period != Period)
    return false; // perhaps a part of the round that repeats itself
  const bool isNew = !Period;
  forget();
  if (!streams)
    return false;
  Period = period;
  OnDevice.AnyStream = true;
  for (size_t i = 0; i < used.size(); ++i)
    used[i].chunk->streams = chunks[i].streams;
  if (isNew)
    log(LogLevel::Debug,
        "{} launches go round {}: {} of it come and go, the others stay",
        period, formatBytes(all), formatBytes(streams));
  return true;
}

} // namespace dragon
