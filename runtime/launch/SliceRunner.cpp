//===- SliceRunner.cpp - running slices one after the other ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/SliceRunner.h"

#include "runtime/trace/Log.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace dragon {

void SliceRunner::count(const SliceUses &uses) {
  std::vector<size_t> slicesOf(uses.numLaunches());
  for (size_t i = 0; i < uses.size(); ++i)
    ++slicesOf[uses.slice(i).launch];
  for (size_t slices : slicesOf)
    if (slices > 1) {
      Ctx.ledger.count(Counter::SlicedLaunches);
      Ctx.ledger.count(Counter::Slices, slices);
    }
  if (uses.numLaunches() > 1)
    log(LogLevel::Debug,
        "'{}' runs in {} slices with the {} launches behind it",
        nameOf(uses.launch(0)), uses.size(), uses.numLaunches() - 1);
}

Status SliceRunner::die(Chunk &chunk, bool overwritten, Queue queue) {
  if (!overwritten)
    return Discarded.whole(chunk, queue);
  Move move = decide(stateOf(chunk), LaunchNeed::Overwrite, NextUse::Unknown,
                     Pressure::None);
  if (move.avoided)
    Ctx.ledger.avoided(*move.avoided, chunk.used());
  return Data.forget(chunk);
}

Status SliceRunner::submit(const SliceUses &uses, size_t index, Queue queue) {
  const Slice &slice = uses.slice(index);
  const ResolvedLaunch &launch = uses.launch(index);
  std::vector<AddressRange> touched = addressRanges(*slice.chunks);
  if (slice.mapped)
    for (const AddressRange &range : addressRanges(*slice.mapped))
      touched.push_back(range);
  // Slices of several launches are launches of their own to who watches.
  Observer *watcher = uses.numLaunches() > 1 ? Ctx.watcher.get() : nullptr;
  Submission part{slice.box, queue, touched, slice.chunks->anything};
  std::optional<LoopArguments> loop;
  if (slice.isOfLoop()) {
    if (slice.box.Lo[LoopDimension] == 0)
      Panel = slice.box;
    loop.emplace(launch, State.address(), slice.box, Panel);
    touched.push_back(State.range());
    part.touched = touched;
    part.kernel = &*launch.kernel->looped;
    part.args = loop->all();
  }
  DRAGON_TRY(
      observed(watcher, launch, [&] { return Submit.run(launch, part); }));
  if (index == 0 || slice.launch != uses.slice(index - 1).launch)
    Accepted.insert(shapeKey(launch));
  return {};
}

Status SliceRunner::noteWrites(const SliceUses &uses, size_t index) {
  for (const SliceUses::Use &use : uses.uses(index))
    if (use.use->mayWrite())
      DRAGON_TRY(Data.wroteDevice(*use.use->chunk, use.use->written));
    else if (use.overwrites && !use.use->chunk->copies.device)
      // Brought in for a slice that turned out not to write it.
      DRAGON_TRY(Data.forget(*use.use->chunk));
  if (const LaunchFootprint *mapped = uses.slice(index).mapped)
    for (const ChunkUse &use : mapped->uses)
      if (use.mayWrite())
        DRAGON_TRY(Data.wroteHost(*use.chunk, use.written));
  return {};
}

Status SliceRunner::noteDeaths(const SliceUses &uses, size_t index,
                               Queue queue) {
  for (const SliceUses::Use &use : uses.uses(index))
    if (use.dies)
      DRAGON_TRY(die(*use.use->chunk, use.overwrittenNext, queue));
  if (index == 0)
    // The launch runs: what is overwritten later is dead now.
    for (Chunk *chunk : uses.deadBefore())
      DRAGON_TRY(die(*chunk, true, queue));
  return {};
}

Status SliceRunner::runOne(SliceUses &uses, size_t index) {
  if (index)
    Ctx.clock = uses.clockOf(index);
  if (Ctx.caps().asynchronous && uses.size() > 1)
    OnDevice.InUseSince = uses.inUseSince(index);
  DRAGON_ASSIGN(const Queue queue, AtATime.queueFor(uses, index));
  std::vector<ChunkUse> needed;
  std::vector<Chunk *> used;
  bool needsNew = false;
  for (const SliceUses::Use &use : uses.uses(index)) {
    needsNew |= !use.use->chunk->device.id;
    needed.push_back(use.asNeeded());
    used.push_back(use.use->chunk);
  }
  Ctx.pins.next();
  OnDevice.giveBetweenSlices(needed);
  DRAGON_TRY(Resident.bringIn(needed, queue, Cause::Demand, queue));
  if (const LaunchFootprint *mapped = uses.slice(index).mapped)
    for (const ChunkUse &use : mapped->uses)
      used.push_back(use.chunk);
  DRAGON_TRY(submit(uses, index, queue));
  DRAGON_TRY(noteWrites(uses, index));
  DRAGON_TRY(Time.noteUse(used, queue));
  if (!used.empty())
    AtATime.ran(uses, index, used.front()->transit.lastUse);
  uses.ran(index);
  DRAGON_TRY(noteDeaths(uses, index, queue));
  // Slices in a wave that need nothing new change little of what is to come.
  if (index + 1 < uses.size() &&
      (needsNew || uses.numLaunches() == 1 || index % 4 == 0))
    return Pipeline.prepare(uses, index + 1);
  return {};
}

/// Of a slice.
static uint64_t mostBlocks(const SliceUses &uses) {
  uint64_t blocks = 0;
  for (size_t i = 0; i < uses.size(); ++i)
    blocks = std::max(blocks, blocksOf(uses.slice(i).box));
  return blocks;
}

/// Slices that run at a time.
unsigned SliceRunner::queuesFor(const SliceUses &uses) const {
  // Poison is in the order of one queue.
  if (!Ctx.caps().asynchronous || !Time.Tracking || uses.size() < 2 ||
      Ctx.config.poison)
    return 1;
  return Ctx.config.sliceQueues;
}

Status SliceRunner::run(SliceUses &uses) {
  count(uses);
  if (!uses.slice(0).isOfLoop())
    return runAll(uses, queuesFor(uses));
  // Parts of a loop run one behind the other.
  DRAGON_TRY(State.begin(uses.launch(0), mostBlocks(uses)));
  Status status = runAll(uses, 1);
  Status ended = State.end(uses.launch(0));
  return status.ok() ? std::move(ended) : std::move(status);
}

Status SliceRunner::runAll(SliceUses &uses, unsigned queues) {
  struct Restore {
    uint64_t &value;
    ~Restore() { value = UINT64_MAX; }
  } restore{OnDevice.InUseSince};
  OnDevice.WaitsCount = uses.waitsCount();
  uses.runAtATime(queues);
  DRAGON_TRY(AtATime.begin(uses.launch(0).queue, queues));
  Progress::Slices shown(Ctx.progress, nameOf(uses.launch(0)),
                         uses.numLaunches() - 1, uses.size());
  if (uses.size() > 1) {
    Time.Tracking = true; // chunks of slices that are done make room for others
    OnDevice.makeNoHostMemory();
  }
  Residency::FetchingLater fetching(Resident);
  Status status;
  for (size_t i = 0; i < uses.size() && status.ok(); ++i) {
    shown.run(i);
    status = runOne(uses, i);
  }
  // Also where one failed: the others are on their way.
  if (Status fetched = fetching.finish(); status.ok())
    status = std::move(fetched);
  if (Status ended = AtATime.end(); status.ok())
    status = std::move(ended);
  return status;
}

} // namespace dragon
