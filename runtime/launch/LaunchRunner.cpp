//===- LaunchRunner.cpp - one launch runs, as planned ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchRunner.h"

#include "runtime/launch/CannotRun.h"
#include "runtime/launch/LinkNote.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace dragon {

namespace {

/// Lines of the log that are known again.
constexpr size_t MostSaid = 4096;

} // namespace

Status LaunchRunner::run(const ResolvedLaunch &launch, PlannedLaunch &planned) {
  DRAGON_TRY(observed(Ctx.watcher.get(), launch,
                      [&] { return runAsOftenPlanned(launch, planned); }));
  return Ends.end(launch);
}

Status LaunchRunner::runAsOftenPlanned(const ResolvedLaunch &launch,
                                       PlannedLaunch &planned) {
  ++planned.launches;
  auto room = [this] {
    return PlannedLaunch::Room{OnDevice.Pool.budget() + Pages.bytes(),
                               Slabs.mappedBytes()};
  };
  if (planned.stored && planned.stored->holds(room())) {
    bool begun = false;
    Status status = FromStorage.run(launch, planned, begun);
    if (begun)
      return status;
    planned.stored.reset(); // others have what it needs
  }
  while (true) {
    const uint64_t budget = OnDevice.Pool.budget(), begun = Submit.taken();
    Status status = runAsPlanned(launch, planned);
    if (status.code() != DRAGON_ERROR_OUT_OF_MEMORY || Submit.taken() != begun)
      return status;
    // Nothing of it has run.
    if (OnDevice.Pool.budget() >= budget)
      return runFromStorage(launch, planned, std::move(status), room());
    // The plan for the smaller budget may have room.
    log(LogLevel::Info, "'{}' is planned again", nameOf(launch));
  }
}

Status LaunchRunner::runFromStorage(const ResolvedLaunch &launch,
                                    PlannedLaunch &planned, Status refused,
                                    const PlannedLaunch::Room &room) {
  if (!FromStorage.canRun(launch, planned))
    return refused;
  log(LogLevel::Info, "{}", refused.message());
  bool begun = false;
  Status status = FromStorage.run(launch, planned, begun);
  if (status.ok())
    planned.stored = room;
  if (begun || (status.code() != DRAGON_ERROR_OUT_OF_MEMORY &&
                status.code() != DRAGON_ERROR_UNSUPPORTED))
    return status;
  log(LogLevel::Info, "'{}' cannot fetch pages of storage: {}", nameOf(launch),
      status.message());
  return refused;
}

Status LaunchRunner::runAsPlanned(const ResolvedLaunch &launch,
                                  PlannedLaunch &planned) {
  TraceZone zone("launch");
  zone.on(nameOf(launch));
  const LinkNote note(zone, Ctx.ledger);
  if (Pages.isLarge())
    Pages.drop();
  // What fits without the frames runs without them.
  if (const uint64_t budget = OnDevice.Pool.budget();
      Pages.any() && planned.bytes > budget &&
      planned.bytes <= budget + Pages.bytes())
    Pages.drop();
  // Slices of which little may be needed are planned beside the frames.
  const bool touchesLess =
      planned.bytes > OnDevice.Pool.budget() && mayTouchLess(launch, planned);
  const bool hasNewFrames =
      touchesLess && !Pages.any() &&
      Pages.make(HostMappedRunner::bytesThatStay(planned.whole)).ok();
  const Slicing *slicing = &Plans.slicingOf(launch, planned);
  if (hasNewFrames && slicing->plan.kind != LaunchPlan::Sliced &&
      !fetchesPages(launch, slicing->plan)) {
    Pages.drop();
    slicing = &Plans.slicingOf(launch, planned);
  }
  const LaunchPlan &plan = slicing->plan;
  if (plan.kind != LaunchPlan::Resident) {
    OnDevice.noticeOnce();
    DRAGON_TRY(Data.forgetDead());
    Time.Tracking = true; // chunks of slices that are done make room for others
  }
  if (planned.bytes > OnDevice.Pool.budget())
    OnDevice.makeNoHostMemory();
  explain(launch, planned, plan, zone);

  if (fetchesPages(launch, plan)) {
    // How many the device counts, and tells with the statistics.
    zone.note("fetches pages", uint64_t(1));
    return Mapped.run(launch, planned);
  }
  if (!plan.costs.empty() && plan.costs.front().mapped > 0)
    zone.note("accessed over the link, estimated",
              uint64_t(plan.costs.front().mapped));
  switch (plan.kind) {
  case LaunchPlan::Resident:
  case LaunchPlan::Sliced:
  case LaunchPlan::LoopSliced:
  case LaunchPlan::Mixed:
    return runSlices(launch, planned, *slicing,
                     touchesLess && plan.kind == LaunchPlan::Sliced);
  case LaunchPlan::HostMapped:
    return Mapped.run(launch, planned);
  case LaunchPlan::Impossible:
    if (Ctx.caps().migrates)
      return runBeyondBudget(launch, planned, plan.wholeBytes);
    // What is beside chunks may be what is missing.
    if (!OnDevice.dropScratch() &&
        !OnDevice.askOthersFor(plan.smallestBytes ? plan.smallestBytes
                                                  : plan.wholeBytes) &&
        !Slabs.exceed(plan.wholeBytes + Ctx.limits.transitBytes))
      break;
    return runAsPlanned(launch, planned);
  }
  return cannotRun(launch, Ctx.caps(),
                   {plan.wholeBytes, plan.smallestBytes, OnDevice.Pool.budget(),
                    Slabs.mappedBytes()});
}

bool LaunchRunner::fetchesPages(const LaunchCall &call,
                                const LaunchPlan &plan) const {
  switch (plan.kind) {
  case LaunchPlan::Resident:
  case LaunchPlan::Impossible:
    return false;
  case LaunchPlan::Sliced:
  case LaunchPlan::LoopSliced:
    return Ctx.config.paging == Paging::Always && Pages.canRun(call);
  case LaunchPlan::Mixed:
  case LaunchPlan::HostMapped:
    return Pages.isWorth(call);
  }
  return false;
}

bool LaunchRunner::mayTouchLess(const ResolvedLaunch &launch,
                                const PlannedLaunch &planned) const {
  if (Ctx.config.paging == Paging::Off || !launch.memory ||
      launch.memory->Arrays.empty() || !Pages.isWorth(launch))
    return false;
  EvalLimits limits;
  limits.WithMust = false;
  uint64_t uncertain = 0;
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation &&
        launch.kernel->footprints
            ->of(pointer.index, dimsOf(launch), wholeGrid(launch), limits)
            ->Uncertain)
      uncertain += pointer.allocation->bytes;
  return uncertain >= planned.bytes / 2;
}

namespace {

/// What is left of a launch when some pieces of its slices have run: it does
/// not overwrite as a whole what these used.
class RestOfSlices {
public:
  /// What they use must outlive it.
  RestOfSlices(const LaunchFootprint &whole, const std::vector<Slice> &slices,
               const SparseSlices &sparse)
      : Whole(whole) {
    const std::span<const SparseSlices::Piece> pieces(sparse.pieces());
    std::unordered_set<const Chunk *> used;
    for (const SparseSlices::Piece &piece : pieces.first(sparse.numRan())) {
      const LaunchFootprint &chunks = *slices[piece.slice].chunks;
      Parts.emplace(piece.slice, chunks);
      for (const ChunkUse &use : chunks.uses)
        used.insert(use.chunk);
    }
    overwriteNothing(Whole, used);
    for (auto &[slice, chunks] : Parts)
      overwriteNothing(chunks, used);
    for (const SparseSlices::Piece &piece : pieces.subspan(sparse.numRan())) {
      const auto part = Parts.find(piece.slice);
      Left.push_back(
          {0, piece.box,
           part == Parts.end() ? slices[piece.slice].chunks : &part->second});
    }
  }

  const LaunchFootprint &whole() const { return Whole; }
  const std::vector<Slice> &slices() const { return Left; }

private:
  static void overwriteNothing(LaunchFootprint &footprint,
                               const std::unordered_set<const Chunk *> &of) {
    for (ChunkUse &use : footprint.uses)
      if (use.mustWrite() && of.contains(use.chunk))
        use.need = LaunchNeed::Write;
  }

  LaunchFootprint Whole;
  std::unordered_map<size_t, LaunchFootprint> Parts; ///< of which some ran
  std::vector<Slice> Left;
};

} // namespace

Status LaunchRunner::runSlices(const ResolvedLaunch &launch,
                               PlannedLaunch &planned, const Slicing &slicing,
                               bool mayTouchLess) {
  const LaunchPlan &plan = slicing.plan;
  const bool mixed = plan.kind == LaunchPlan::Mixed;
  const std::span<const LaunchFootprint> parts = planned.parts(slicing);
  std::vector<Slice> slices;
  slices.reserve(parts.size());
  std::vector<uint32_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  if (plan.kind != LaunchPlan::LoopSliced)
    order = sliceOrder(parts, mayTouchLess);
  for (uint32_t part : order)
    slices.push_back({0, plan.boxes[part], &parts[part],
                      mixed ? &slicing.mappedParts[part] : nullptr});
  const LaunchFootprint *whole = &planned.whole;
  std::optional<RestOfSlices> rest;
  if (mayTouchLess) {
    std::vector<BlockBox> boxes;
    boxes.reserve(slices.size());
    for (const Slice &slice : slices)
      boxes.push_back(slice.box);
    DRAGON_ASSIGN(const SparseSlices sparse,
                  Mapped.runWhileSparse(launch, planned, boxes));
    if (sparse.numRan() == sparse.pieces().size())
      return {};
    if (sparse.numRan() > 0) {
      rest.emplace(planned.whole, slices, sparse);
      whole = &rest->whole();
      slices = rest->slices();
    }
  }
  SliceUses uses({{&launch, whole, Ends.dyingOf(launch)}}, std::move(slices),
                 Ctx.clock,
                 [this](Chunk &chunk) { return Next.foresee(chunk); });
  // One alone goes by what is foreseen, if anything is.
  if (uses.size() > 1)
    uses.announce(Next.launchClock());
  if (!mixed)
    return Slices.run(uses);
  DRAGON_TRY(Mapped.runMixed(uses, slicing.mapped));
  if (!plan.costs.empty())
    Ctx.ledger.accessed(OverLink::Mixed, uint64_t(plan.costs.front().mapped));
  return {};
}

void LaunchRunner::explain(const LaunchCall &call, PlannedLaunch &planned,
                           const LaunchPlan &plan, TraceZone &zone) {
  LogLevel level = planned.told ? LogLevel::Debug : LogLevel::Info;
  planned.told = true;
  if (plan.costs.empty() || !(zone.recorded() || logging(level)))
    return;
  std::string others;
  for (size_t i = 1; i < plan.costs.size(); ++i)
    others += (i > 1 ? "; " : "") + describe(plan.costs[i]);
  zone.note("chosen", describe(plan.costs.front()));
  if (!others.empty())
    zone.note("instead of", others);
  if (plan.kind == LaunchPlan::Resident || !logging(level))
    return;
  const std::string line = fmt::format(
      "'{}' runs {}{}{}", nameOf(call), describe(plan.costs.front()),
      others.empty() ? "" : ", instead of ", others);
  // The same launch of other buffers has a plan of its own: those of two that
  // change places say the same.
  if (Said.contains(line))
    level = LogLevel::Debug;
  else if (Said.size() < MostSaid)
    Said.insert(line);
  log(level, "{}", line);
}

Status LaunchRunner::runBeyondBudget(const ResolvedLaunch &launch,
                                     PlannedLaunch &planned,
                                     uint64_t wholeBytes) {
  log(LogLevel::Info,
      "'{}' needs {} at once, more than the {} of device memory: the driver "
      "makes room for it",
      nameOf(launch), formatBytes(wholeBytes),
      formatBytes(OnDevice.Pool.budget()));
  struct Restore {
    SlabPool &pool;
    uint64_t budget;
    ~Restore() { pool.setBudget(budget); }
  } restore{OnDevice.Pool, OnDevice.Pool.budget()};
  OnDevice.Pool.setBudget(
      std::max(restore.budget, OnDevice.Pool.used() + wholeBytes));
  SliceUses uses({{&launch, &planned.whole, Ends.dyingOf(launch)}},
                 {{0, wholeGrid(launch), &planned.whole}}, Ctx.clock,
                 [this](Chunk &chunk) { return Next.foresee(chunk); });
  return Slices.run(uses);
}

Status LaunchRunner::runInCore(const ResolvedLaunch &launch) {
  BlockBox grid = wholeGrid(launch);
  LaunchFootprint chunks;
  std::vector<AddressRange> touched;
  bool listed = Ctx.caps().strict || Time.Tracking;
  for (const LaunchPointer &pointer : launch.pointers)
    listed |= pointer.mayReachAny();
  if (listed) {
    chunks = footprintOf(launch, Space.Allocations, grid);
    touched = addressRanges(chunks);
  }
  if (Time.Tracking)
    Next.remember(launch, chunks);
  DRAGON_TRY(waitForFetches(launch));
  Submission whole{grid, launch.queue, touched, launch.anything};
  whole.inPlace = !Time.Tracking;
  DRAGON_TRY(Submit.run(launch, whole));

  return listed ? noteUses(launch, chunks) : noteUses(launch);
}

Status LaunchRunner::runInPlace(const ResolvedLaunch &launch,
                                const QueueWork &work) {
  DRAGON_TRY(waitForFetches(launch));
  DRAGON_TRY(work());
  return noteUses(launch);
}

Status LaunchRunner::waitForFetches(const ResolvedLaunch &launch) {
  if (!Time.LastFetch)
    return {};
  uint64_t last = launch.anything ? Time.LastFetch : 0;
  for (const LaunchPointer &pointer : launch.pointers)
    if (pointer.allocation)
      last = std::max(last, pointer.allocation->buffer->lastArrival);
    else if (pointer.mayReachAny())
      last = Time.LastFetch;
  if (!last || Time.Fetches.done(last))
    return {};
  return Time.Fetches.queueWaitsFor(launch.queue, last);
}

StatusOr<LaunchRunner::UseNote> LaunchRunner::noteWork(Queue queue) {
  UseNote note{Ctx.clock, Time.Epoch, 0, Time.Tracking};
  if (!Time.Tracking)
    return note;
  auto ticket = Time.Work.note(queue);
  if (ticket.ok())
    note.ticket = *ticket;
  else
    DRAGON_TRY(Time.synchronizeAll());
  return note;
}

void LaunchRunner::UseNote::operator()(Buffer &buffer) const {
  buffer.lastTouch = clock;
  if (tracking)
    buffer.lastUse = std::max(buffer.lastUse, ticket);
  else
    buffer.lastUntracked = epoch;
}

/// The chunks are known.
Status LaunchRunner::noteUses(const ResolvedLaunch &launch,
                              const LaunchFootprint &chunks) {
  DRAGON_ASSIGN(const UseNote used, noteWork(launch.queue));
  if (launch.anything)
    for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
      used(*buffer);
  for (const ChunkUse &use : chunks.uses) {
    used(*use.chunk->buffer);
    if (use.mayWrite())
      DRAGON_TRY(Data.wroteDevice(*use.chunk, use.written));
  }
  return {};
}

/// Nothing has ever had to move: no need to know which chunks are dirty.
Status LaunchRunner::noteUses(const ResolvedLaunch &launch) {
  DRAGON_ASSIGN(const UseNote used, noteWork(launch.queue));
  auto wrote = [&](Buffer &buffer) -> Status {
    Data.wroteInPlace(buffer);
    if (!buffer.allDeviceOnly())
      for (Chunk &chunk : buffer.chunks)
        DRAGON_TRY(Data.wroteDevice(chunk));
    return {};
  };
  if (launch.anything)
    for (const std::unique_ptr<Buffer> &buffer : Space.Buffers) {
      used(*buffer);
      DRAGON_TRY(wrote(*buffer));
    }
  for (const LaunchPointer &pointer : launch.pointers) {
    if (pointer.elsewhere)
      continue;
    used(*pointer.allocation->buffer);
    if (pointer.mayWrite)
      DRAGON_TRY(wrote(*pointer.allocation->buffer));
  }
  return {};
}

} // namespace dragon
