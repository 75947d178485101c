//===- WaveRunner.cpp - launches that wait run together -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/WaveRunner.h"

#include "runtime/launch/BoxFootprints.h"
#include "runtime/launch/LinkNote.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"
#include <algorithm>
#include <set>
#include <unordered_map>

namespace dragon {

namespace {

/// Slices of launches in a wave are planned for so much less than the budget
/// that a slice of each of about ten launches fits. Smaller ones cost more to
/// launch than they save where one wave is all there is, and larger ones less,
/// if the wave moves no more with them; what one of several leaves free keeps
/// what the next one needs.
constexpr uint64_t Share = 2, FinerShare = 4;

/// Who takes longer than that until the next launch has better things to do.
constexpr std::chrono::milliseconds SoonAfter(20);

/// Launches that wait at most.
constexpr size_t MaxWaiting = 32;

} // namespace

void WaveRunner::noteFollower(Queue queue) {
  if (Last)
    Last->followed = !Interrupted && LastQueue == queue &&
                     std::chrono::steady_clock::now() - LastEnd < SoonAfter;
  Last.reset();
  Interrupted = false;
}

void WaveRunner::noteLast(std::shared_ptr<PlannedLaunch> planned, Queue queue) {
  Last = std::move(planned);
  LastQueue = queue;
}

bool WaveRunner::mayWait(const ResolvedLaunch &launch) const {
  const KernelRecord *record = launch.kernel->record;
  constexpr uint32_t Needed = KernelSliceable | KernelActsOnBuffersOnly;
  // Where all buffers fit, nothing moves that could move less.
  return (Ctx.config.wavefront == Wavefront::Always ||
          (Ctx.config.wavefront != Wavefront::Off && OnDevice.mayMove())) &&
         record && !launch.cooperative && (record->Flags & Needed) == Needed &&
         // Another thread may be the one that runs it.
         launch.queue != Device::PerThreadQueue && !launch.anything &&
         launch.numArgs >= record->NumArgs &&
         std::all_of(launch.pointers.begin(), launch.pointers.end(),
                     [](const LaunchPointer &pointer) {
                       // What the host can see, it may watch.
                       return pointer.allocation &&
                              !pointer.allocation->buffer->hostAccessible;
                     }) &&
         (Ctx.config.wavefront == Wavefront::Always ||
          Slices.hasAccepted(launch) ||
          Ctx.device->accepts(requestOf(launch, wholeGrid(launch))));
}

StatusOr<bool> WaveRunner::wait(WaitingLaunch launch, bool followed) {
  // While it is planned.
  Residency::FetchingLater fetching(Resident);
  if (Launches.empty())
    DRAGON_TRY(fetchForFirst(launch));
  if (!mayBeCut(launch)) {
    DRAGON_TRY(fetching.finish());
    return false;
  }
  Launches.push_back(std::move(launch));
  Any = true;
  noteEnd();
  if (!followed || Launches.size() == MaxWaiting)
    DRAGON_TRY(runAll());
  DRAGON_TRY(fetching.finish());
  return true;
}

bool WaveRunner::mayWrite(uint64_t address) const {
  return std::any_of(
      Launches.begin(), Launches.end(), [address](const WaitingLaunch &one) {
        const auto &pointers = one.launch().pointers;
        return std::any_of(pointers.begin(), pointers.end(),
                           [address](const auto &pointer) {
                             return pointer.mayWrite && pointer.allocation &&
                                    pointer.allocation->base <= address &&
                                    address < pointer.allocation->end();
                           });
      });
}

Status WaveRunner::runAll() {
  if (Launches.empty())
    return {};
  // They are gone whatever happens: a launch that fails spoils those behind it.
  const std::vector<WaitingLaunch> launches = std::exchange(Launches, {});
  // What the first ones leave on the device is what those behind them need.
  ComingUses coming(launches);
  Next.setComing(&coming);
  Status status;
  std::span<const WaitingLaunch> left = launches;
  const Waves waves = howTogether(launches);
  const WaveCut cut = cutOf(launches, waves.size);
  for (size_t length : waves.lengths) {
    const std::span wave = left.first(length);
    left = left.subspan(length);
    coming.begun(launches.size() - left.size());
    Next.setLaunchClock(wave.back().clock());
    status = length > 1 ? runTogether(wave, cut) : runOne(wave.front());
    if (!status.ok())
      break;
  }
  Next.setComing(nullptr);
  // Only now: a thread that finds the mark gone does not take the lock, and
  // waits for what has been submitted by then.
  Any = false;
  return status;
}

Status WaveRunner::runOne(const WaitingLaunch &launch) {
  Ctx.clock = launch.clock();
  Status status = Single.run(launch.launch(), launch.planned());
  noteEnd();
  return status;
}

bool WaveRunner::mayBeCut(const WaitingLaunch &launch) {
  const Slicing &fine = Plans.fineSlicingOf(launch, {{Share}});
  if (!canRun(fine))
    return false;
  const LaunchPlan &plan = fine.plan;
  if (plan.costs.empty() ||
      plan.costs.front().copied <= FewFetches * plan.wholeBytes)
    return true;
  // They fetch the same over and over. Alone it may run in another way.
  const LaunchPlan::Kind alone =
      Plans.slicingOf(launch.launch(), launch.planned(), {}).plan.kind;
  return alone == LaunchPlan::Sliced || alone == LaunchPlan::Resident;
}

Status WaveRunner::fetchForFirst(const WaitingLaunch &launch) {
  if (!Ctx.device->caps().asynchronous)
    return {};
  OnDevice.makeNoHostMemory();
  std::vector<std::pair<double, Chunk *>> order;
  inTurn(launch.planned().whole.uses,
         [&](const ChunkUse &use, size_t number, size_t count) {
           if (!use.mustWrite() && !use.chunk->device.id &&
               (use.chunk->copies.host || Resident.comesLater(*use.chunk)))
             order.emplace_back(double(number) / double(count), use.chunk);
         });
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first < b.first
                              : a.second->va() < b.second->va();
  });
  // What is fetched early must not make anything leave early.
  const uint64_t most = OnDevice.Pool.budget() / 4;
  uint64_t bytes = 0;
  std::vector<ChunkUse> reads;
  for (const auto &[at, chunk] : order) {
    bytes += chunk->bytes();
    if (bytes > most || !OnDevice.Pool.hasRoom(bytes + most))
      break;
    reads.push_back(useOfAll(*chunk, LaunchNeed::Read));
  }
  Ctx.pins.next();
  if (OnDevice.claimNow(reads))
    DRAGON_TRY(Resident.startBringingIn(reads, Cause::Demand));
  OnDevice.expectHostMemory(); // while the wave is planned
  return {};
}

WaveCut WaveRunner::cutOf(std::span<const WaitingLaunch> launches,
                          SliceSize size) {
  WaveCut cut{size};
  for (const WaitingLaunch &launch : launches)
    cut.pieces = std::max(
        cut.pieces,
        uint32_t(Plans.fineSlicingOf(launch, {size}).plan.boxes.size()));
  return cut;
}

/// Numbers of chunks, as they come.
class WaveRunner::Numbering {
public:
  explicit Numbering(std::vector<uint64_t> &bytes) : Bytes(bytes) {}
  uint32_t of(const Chunk &chunk) {
    auto [number, isNew] = Numbers.emplace(&chunk, uint32_t(Chunks.size()));
    if (isNew) {
      Chunks.push_back(&chunk);
      Bytes.push_back(chunk.bytes());
    }
    return number->second;
  }
  /// By number.
  const std::vector<const Chunk *> &chunks() const { return Chunks; }

private:
  std::unordered_map<const Chunk *, uint32_t> Numbers;
  std::vector<const Chunk *> Chunks;
  std::vector<uint64_t> &Bytes;
};

WaveSlices WaveRunner::slicesOf(const WaitingLaunch &launch, const WaveCut &cut,
                                Numbering &numbering) {
  const PlannedLaunch &planned = launch.planned();
  std::unordered_set<const Chunk *> overwritten;
  for (const ChunkUse &use : planned.whole.uses)
    if (use.mustWrite())
      overwritten.insert(use.chunk);
  WaveSlices slices;
  for (const LaunchFootprint &part :
       planned.parts(Plans.fineSlicingOf(launch, cut))) {
    WaveSlice &slice = slices.emplace_back();
    for (const ChunkUse &use : part.uses)
      slice.push_back({numbering.of(*use.chunk), use.mayWrite(),
                       overwritten.count(use.chunk) != 0, use.touched,
                       use.written});
  }
  return slices;
}

WaveRunner::Wave WaveRunner::waveOf(std::span<const WaitingLaunch> launches,
                                    const WaveCut &cut) {
  Wave wave;
  Numbering numbering(wave.chunkBytes);
  for (const WaitingLaunch &launch : launches) {
    auto [known, isNew] = wave.slices.try_emplace(&launch.planned());
    WaveLaunch &added = wave.launches.emplace_back();
    added.slices = &known->second; // stays where it is
    if (isNew)
      known->second = slicesOf(launch, cut, numbering);
    const std::vector<AddressRange> dying = Ends.dyingOf(launch.launch());
    if (dying.empty())
      continue;
    const std::vector<const Chunk *> &chunks = numbering.chunks();
    for (uint32_t number = 0; number < chunks.size(); ++number)
      if (isWithin(*chunks[number], dying))
        added.dying.push_back(number);
  }
  return wave;
}

Waves WaveRunner::howTogether(std::span<const WaitingLaunch> launches) {
  if (launches.size() == 1 || Ctx.config.wavefront == Wavefront::Always)
    return {{launches.size()}, {Share}};
  if (Generation != Plans.Plans.generation()) {
    Known.clear();
    Generation = Plans.Plans.generation();
  }
  std::string key;
  auto append = [&key](const auto &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  for (const WaitingLaunch &launch : launches) {
    append(reinterpret_cast<uintptr_t>(&launch.planned()));
    for (const LastUse &use : launch.launch().lastUses) {
      append(use.address);
      append(use.bytes);
    }
  }
  auto [known, isNew] = Known.try_emplace(std::move(key));
  if (isNew)
    known->second = planWaves(launches);
  return known->second;
}

Waves WaveRunner::planWaves(std::span<const WaitingLaunch> launches) {
  TraceZone zone("plan wavefront");
  // Some room is for what arrives for later slices, and what leaves.
  const uint64_t budget = OnDevice.Pool.budget(), most = budget - budget / 8;
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
  return waves;
}

/// Each once, with a semicolon in between, which no name has.
static std::string kernelsOf(std::span<const WaitingLaunch> launches) {
  std::string text;
  std::set<std::string> known;
  for (const WaitingLaunch &launch : launches)
    if (const std::string name = nameOf(launch.launch());
        known.insert(name).second)
      text += (text.empty() ? "" : "; ") + name;
  return text;
}

Status WaveRunner::runTogether(std::span<const WaitingLaunch> launches,
                               const WaveCut &cut) {
  TraceZone zone("launches together");
  zone.on(nameOf(launches.front().launch()));
  const LinkNote note(zone, Ctx.ledger);
  if (zone.recorded())
    zone.note("kernels", kernelsOf(launches));
  Ctx.ledger.count(Counter::LaunchesTogether, launches.size());
  OnDevice.noticeOnce();
  std::vector<const Slicing *> slicings;
  std::vector<SlicedLaunch> sliced;
  for (const WaitingLaunch &launch : launches) {
    slicings.push_back(&Plans.fineSlicingOf(launch, cut));
    sliced.push_back({&launch.launch(), &launch.planned().whole,
                      Ends.dyingOf(launch.launch())});
  }
  // Slices of later launches run before the earlier ones end.
  for (const WaitingLaunch &launch : launches)
    Ends.tell(launch.launch());
  std::vector<Slice> slices;
  const Wave wave = waveOf(launches, cut);
  for (const auto &[launch, slice] : wavefront(wave.launches)) {
    const Slicing &slicing = *slicings[launch];
    slices.push_back({launch, slicing.plan.boxes[slice],
                      &launches[launch].planned().parts(slicing)[slice]});
  }
  Ctx.clock = launches.front().clock();
  SliceUses uses(std::move(sliced), std::move(slices), Ctx.clock,
                 [this](Chunk &chunk) { return Next.foresee(chunk); });
  uses.announce(Next.launchClock());
  DRAGON_TRY(Slices.run(uses));
  return endLastUses(launches);
}

Status WaveRunner::endLastUses(std::span<const WaitingLaunch> launches) {
  // Whole chunks have died with the slice that used them last. What later
  // launches use again is theirs.
  std::unordered_set<const Chunk *> usedLater;
  for (size_t i = launches.size(); i-- > 0;) {
    for (const LastUse &use : launches[i].launch().lastUses)
      DRAGON_TRY(Ends.end(use, launches[i].queue(), [&](const Chunk &chunk) {
        return usedLater.count(&chunk) != 0;
      }));
    for (const ChunkUse &use : launches[i].planned().whole.uses)
      usedLater.insert(use.chunk);
  }
  return {};
}

} // namespace dragon
