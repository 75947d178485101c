//===- LaunchTogether.cpp - launches that run slice by slice --------------===//
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

#include "runtime/core/BoxFootprints.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/core/SliceUses.h"
#include "runtime/core/Wavefront.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <unordered_map>

namespace dragon {

namespace {

/// Slices of launches in a wave are planned for so much less than the budget
/// that a slice of each of about ten launches fits. Smaller ones cost more to
/// launch than they save where one wave is all there is, and larger ones less,
/// if the wave moves no more with them; what one of several leaves free keeps
/// what the next one needs.
constexpr uint64_t Share = 2, FinerShare = 4;

/// visit(use, number, count) for each: the number of so many of its buffer. A
/// launch goes through its buffers from their beginning to their end.
template <typename Visit>
void inTurn(const std::vector<ChunkUse> &uses, Visit visit) {
  for (auto first = uses.begin(); first != uses.end();) {
    const auto last = std::find_if(first, uses.end(), [&](const ChunkUse &use) {
      return use.chunk->buffer != first->chunk->buffer;
    });
    const size_t count = size_t(last - first);
    for (size_t number = 0; number < count; ++number, ++first)
      visit(*first, number, count);
  }
}

/// Who takes longer than that until the next launch has better things to do.
constexpr std::chrono::milliseconds SoonAfter(20);

} // namespace

WaitingLaunch::WaitingLaunch(const LaunchCall &call,
                             std::shared_ptr<PlannedLaunch> planned,
                             uint64_t clock)
    : Call(call), LastUses(call.lastUses.begin(), call.lastUses.end()),
      Planned(std::move(planned)), Clock(clock) {
  const KernelRecord &record = *call.kernel->record;
  const uint32_t *sizes = call.kernel->summary->argSizes(record);
  constexpr size_t Alignment = alignof(std::max_align_t);
  auto padded = [](size_t bytes) {
    return (bytes + Alignment - 1) / Alignment * Alignment;
  };
  size_t bytes = 0;
  for (uint32_t i = 0; i < record.NumArgs; ++i)
    bytes += padded(sizes[i]);
  Bytes = std::make_unique<char[]>(bytes);
  char *to = Bytes.get();
  for (uint32_t i = 0; i < record.NumArgs; ++i) {
    std::memcpy(to, call.args[i], sizes[i]);
    Args.push_back(to);
    to += padded(sizes[i]);
  }
}

LaunchCall WaitingLaunch::call() const {
  LaunchCall call = Call;
  call.args = Args.data();
  call.lastUses = LastUses;
  return call;
}

ComingUses::ComingUses(std::span<const WaitingLaunch> launches) {
  for (size_t i = 0; i < launches.size(); ++i)
    inTurn(launches[i].planned().whole.uses,
           [&](const ChunkUse &use, size_t number, size_t count) {
             const uint64_t at =
                 launches[i].clock() + 1 + number * (LaunchSpan / count);
             Uses[use.chunk].push_back({i, {at, use.mustWrite, true}});
           });
}

Forecast ComingUses::nextUse(const Chunk &chunk) const {
  auto found = Uses.find(&chunk);
  if (found != Uses.end())
    for (const Use &use : found->second)
      if (use.launch >= Begun)
        return use.forecast;
  return {};
}

void Runtime::Impl::noteFollower(Queue queue) {
  if (Waiting.last)
    Waiting.last->followed =
        !Waiting.interrupted && Waiting.lastQueue == queue &&
        std::chrono::steady_clock::now() - Waiting.lastEnd < SoonAfter;
  Waiting.last.reset();
  Waiting.interrupted = false;
}

bool Runtime::Impl::mayWait(const LaunchCall &call,
                            const LaunchPointers &pointers) const {
  const KernelRecord *record = call.kernel->record;
  constexpr uint32_t Needed = KernelSliceable | KernelActsOnBuffersOnly;
  // Where all buffers fit, nothing moves that could move less.
  return (Config.wavefront == Wavefront::Always ||
          (Config.wavefront != Wavefront::Off && mayMove())) &&
         record && !call.cooperative && (record->Flags & Needed) == Needed &&
         // Another thread may be the one that runs it.
         call.queue != Device::PerThreadQueue && !pointers.anything &&
         call.numArgs >= record->NumArgs &&
         std::all_of(pointers.pointers.begin(), pointers.pointers.end(),
                     [](const LaunchPointer &pointer) {
                       // What the host can see, it may watch.
                       return pointer.allocation &&
                              !pointer.allocation->buffer->hostAccessible;
                     }) &&
         (Config.wavefront == Wavefront::Always ||
          Waiting.accepted.count(shapeOf(call)) ||
          Dev->accepts(requestOf(call, wholeGrid(call))));
}

Status Runtime::Impl::runWaiting() {
  if (Waiting.launches.empty())
    return {};
  // They are gone whatever happens: a launch that fails spoils those behind it.
  const std::vector<WaitingLaunch> launches =
      std::exchange(Waiting.launches, {});
  // What the first ones leave on the device is what those behind them need.
  Waiting.coming.emplace(launches);
  Status status;
  std::span<const WaitingLaunch> left = launches;
  const Waves waves = howTogether(launches);
  const WaveCut cut = cutOf(launches, waves.size);
  for (size_t length : waves.lengths) {
    const std::span wave = left.first(length);
    left = left.subspan(length);
    Waiting.coming->begun(launches.size() - left.size());
    LaunchClock = wave.back().clock();
    status = length > 1 ? runTogether(wave, cut) : runOne(wave.front());
    if (!status.ok())
      break;
  }
  Waiting.coming.reset();
  // Only now: a thread that finds the mark gone does not take the lock, and
  // waits for what has been submitted by then.
  Waiting.any = false;
  return status;
}

Status Runtime::Impl::runOne(const WaitingLaunch &launch) {
  Clock = launch.clock();
  return runPlanned(launch.call(), launch.planned());
}

const Slicing &Runtime::Impl::evenSlicingOf(const LaunchCall &call,
                                            PlannedLaunch &planned,
                                            uint32_t pieces) {
  const Slicing::Conditions conditions{0, 0, false, false, false, pieces};
  if (const Slicing *known = planned.find(conditions))
    return *known;
  auto touchedBy = [](const LaunchChunks &chunks) {
    uint64_t bytes = 0;
    for (const ChunkUse &use : chunks.uses)
      bytes += use.touched.bytes();
    return bytes;
  };
  Slicing slicing{conditions, {}, {}, {}, {}};
  slicing.plan.kind = LaunchPlan::Impossible;
  // Neighbours share a little, such as the border of a stencil.
  const uint64_t all = touchedBy(planned.whole), most = all + all / 4;
  const LaunchPointers pointers = pointersOf(call, Allocations);
  for (unsigned d = 3;
       d-- > 0 && slicing.plan.kind == LaunchPlan::Impossible;) {
    const uint32_t blocks = call.grid[d], number = std::min(pieces, blocks);
    if (number < 2 || pointers.anything)
      continue;
    std::vector<BlockBox> boxes(number, wholeGrid(call));
    for (uint32_t i = 0; i < number; ++i) {
      boxes[i].Lo[d] = uint32_t(uint64_t(blocks) * i / number);
      boxes[i].Hi[d] = uint32_t(uint64_t(blocks) * (i + 1) / number);
    }
    BoxFootprints footprints(call, pointers, Allocations, planned.whole);
    footprints.foresee(boxes);
    std::vector<LaunchChunks> parts;
    uint64_t bytes = 0;
    for (const BlockBox &box : boxes) {
      footprints.of(box);
      bytes += touchedBy(parts.emplace_back(footprints.take(box)));
      if (bytes > most)
        break;
    }
    if (bytes > most)
      continue;
    slicing.plan.kind = LaunchPlan::Sliced;
    slicing.plan.boxes = std::move(boxes);
    slicing.parts = std::move(parts);
  }
  return planned.keep(std::move(slicing));
}

bool Runtime::Impl::mayBeCut(const WaitingLaunch &launch) {
  return canRun(fineSlicingOf(launch, {{Share}}));
}

Status Runtime::Impl::fetchForFirst(const WaitingLaunch &launch) {
  if (!Dev->caps().asynchronous)
    return {};
  std::vector<std::pair<double, Chunk *>> order;
  inTurn(launch.planned().whole.uses,
         [&](const ChunkUse &use, size_t number, size_t count) {
           if (!use.mustWrite && !use.chunk->device.id && use.chunk->hostValid)
             order.emplace_back(double(number) / double(count), use.chunk);
         });
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first < b.first
                              : a.second->va() < b.second->va();
  });
  // What is fetched early must not make anything leave early.
  const uint64_t most = DevicePool.budget() / 4;
  uint64_t bytes = 0;
  std::vector<Want> wants;
  for (const auto &[at, chunk] : order) {
    bytes += chunk->bytes();
    if (bytes > most || !DevicePool.hasRoom(bytes + most))
      break;
    wants.push_back({chunk, LaunchNeed::Read});
  }
  ++Round;
  return startBringingIn(wants, Cause::Demand);
}

WaveCut Runtime::Impl::cutOf(std::span<const WaitingLaunch> launches,
                             SliceSize size) {
  WaveCut cut{size};
  for (const WaitingLaunch &launch : launches)
    cut.pieces = std::max(
        cut.pieces, uint32_t(fineSlicingOf(launch, {size}).plan.boxes.size()));
  return cut;
}

const Slicing &Runtime::Impl::fineSlicingOf(const WaitingLaunch &launch,
                                            const WaveCut &cut) {
  const LaunchCall call = launch.call();
  SliceSize size = cut.size;
  while (size.share > 1 && !canRun(slicingOf(call, launch.planned(), size)))
    size.share /= 2;
  const Slicing &own = slicingOf(call, launch.planned(), size);
  if (own.plan.kind == LaunchPlan::Resident && cut.pieces > 1)
    if (const Slicing &even = evenSlicingOf(call, launch.planned(), cut.pieces);
        canRun(even))
      return even;
  return own;
}

Runtime::Impl::Wave
Runtime::Impl::waveOf(std::span<const WaitingLaunch> launches,
                      const WaveCut &cut) {
  Wave wave;
  std::unordered_map<const Chunk *, uint32_t> numbers;
  std::vector<const Chunk *> chunks; // by number
  auto numberOf = [&](const Chunk &chunk) {
    auto [number, isNew] =
        numbers.emplace(&chunk, uint32_t(wave.chunkBytes.size()));
    if (isNew) {
      chunks.push_back(&chunk);
      wave.chunkBytes.push_back(chunk.bytes());
    }
    return number->second;
  };
  auto slicesOf = [&](const WaitingLaunch &launch) {
    const PlannedLaunch &planned = launch.planned();
    std::unordered_set<const Chunk *> overwritten;
    for (const ChunkUse &use : planned.whole.uses)
      if (use.mustWrite)
        overwritten.insert(use.chunk);
    WaveSlices slices;
    for (const LaunchChunks &part : planned.parts(fineSlicingOf(launch, cut))) {
      WaveSlice &slice = slices.emplace_back();
      for (const ChunkUse &use : part.uses)
        slice.push_back({numberOf(*use.chunk), use.mayWrite,
                         overwritten.count(use.chunk) != 0, use.touched,
                         use.written});
    }
    return slices;
  };
  for (const WaitingLaunch &launch : launches) {
    auto [known, isNew] = wave.slices.try_emplace(&launch.planned());
    WaveLaunch &added = wave.launches.emplace_back();
    added.slices = &known->second; // stays where it is
    if (isNew)
      known->second = slicesOf(launch);
    const std::vector<AddressRange> dying = dyingOf(launch.call());
    if (!dying.empty())
      for (uint32_t number = 0; number < chunks.size(); ++number)
        if (isWithin(*chunks[number], dying))
          added.dying.push_back(number);
  }
  return wave;
}

Waves Runtime::Impl::howTogether(std::span<const WaitingLaunch> launches) {
  if (launches.size() == 1 || Config.wavefront == Wavefront::Always)
    return {{launches.size()}, {Share}};
  if (Waiting.generation != Plans.generation()) {
    Waiting.together.clear();
    Waiting.generation = Plans.generation();
  }
  std::string key;
  auto append = [&key](const auto &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  for (const WaitingLaunch &launch : launches) {
    append(reinterpret_cast<uintptr_t>(&launch.planned()));
    for (const LastUse &use : launch.call().lastUses) {
      append(use.address);
      append(use.bytes);
    }
  }
  if (auto known = Waiting.together.find(key); known != Waiting.together.end())
    return known->second;

  TraceZone zone("plan wavefront");
  // Some room is for what arrives for later slices, and what leaves.
  const uint64_t budget = DevicePool.budget(), most = budget - budget / 8;
  auto waveWith = [&](SliceSize size) {
    return waveOf(launches, cutOf(launches, size));
  };
  auto wavesIn = [&](const Wave &wave) {
    return wavesOf(wave.launches, wave.chunkBytes, most);
  };
  auto movedIn = [&](const Wave &wave, std::span<const size_t> lengths,
                     uint64_t room) {
    return bytesMoved(wave.launches, wavefronts(wave.launches, lengths),
                      wave.chunkBytes, room);
  };
  const Wave wave = waveWith({Share});
  Waves waves{wavesIn(wave), {Share}};
  if (waves.lengths.size() == 1) {
    // Slices twice as large need about twice the room. To plan them takes more
    // than to see whether these would do with half of it.
    const uint64_t moved = movedIn(wave, waves.lengths, most);
    waves.size.large =
        movedIn(wave, waves.lengths, most / 2) <= moved &&
        movedIn(waveWith({Share, true}), waves.lengths, most) <= moved;
  } else if (waves.lengths.size() < launches.size()) {
    const Wave small = waveWith({FinerShare});
    Waves finer{wavesIn(small), {FinerShare}};
    if (movedIn(small, finer.lengths, most) <
        movedIn(wave, waves.lengths, most))
      waves = std::move(finer);
  }
  log(LogLevel::Debug, "{} launches that wait run in {} waves", launches.size(),
      waves.lengths.size());
  Waiting.together.emplace(std::move(key), waves);
  return waves;
}

Status Runtime::Impl::runTogether(std::span<const WaitingLaunch> launches,
                                  const WaveCut &cut) {
  TraceZone zone("launches together");
  zone.detail(launches.front().call().kernel->handle.image.name);
  Bytes.count(Counter::LaunchesTogether, launches.size());
  noticeOnce();
  std::vector<LaunchCall> calls;
  calls.reserve(launches.size());
  std::vector<const Slicing *> slicings;
  std::vector<SlicedLaunch> sliced;
  for (const WaitingLaunch &launch : launches) {
    calls.push_back(launch.call());
    slicings.push_back(&fineSlicingOf(launch, cut));
    sliced.push_back(
        {&calls.back(), &launch.planned().whole, dyingOf(calls.back())});
  }
  // Slices of later launches run before the earlier ones end.
  for (const LaunchCall &call : calls)
    tellLastUses(call);
  std::vector<Slice> slices;
  const Wave wave = waveOf(launches, cut);
  for (const auto &[launch, slice] : wavefront(wave.launches)) {
    const Slicing &slicing = *slicings[launch];
    slices.push_back({launch, slicing.plan.boxes[slice],
                      &launches[launch].planned().parts(slicing)[slice]});
  }
  Clock = launches.front().clock();
  SliceUses uses(std::move(sliced), std::move(slices), Clock,
                 [this](Chunk &chunk) { return foreseenUse(chunk); });
  uses.announce(LaunchClock);
  DRAGON_TRY(runSlices(uses));

  // Whole chunks have died with the slice that used them last. What later
  // launches use again is theirs.
  std::unordered_set<const Chunk *> usedLater;
  for (size_t i = launches.size(); i-- > 0;) {
    for (const LastUse &use : calls[i].lastUses)
      DRAGON_TRY(endLastUse(use, calls[i].queue, [&](const Chunk &chunk) {
        return usedLater.count(&chunk) != 0;
      }));
    for (const ChunkUse &use : launches[i].planned().whole.uses)
      usedLater.insert(use.chunk);
  }
  return {};
}

} // namespace dragon
