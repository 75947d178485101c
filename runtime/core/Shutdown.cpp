//===- Shutdown.cpp - statistics, and the end -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Stats.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace dragon {

namespace {

const char *const DirectionNames[NumDirections] = {
    "file to host",   "host to device", "device to host",   "host to file",
    "swap to host",   "host to swap",   "device to device", "device to peer",
    "peer to device", "peer to host",   "host to peer"};
const char *const CauseNames[NumCauses] = {
    "demand", "prefetch", "eviction", "sync", "copy", "host access", "paging"};
const char *const AvoidedNames[NumAvoided] = {
    "read-only", "write-only",     "discard",
    "clean",     "elided staging", "deferred copies"};
const char *const OverLinkNames[NumOverLink] = {
    "host-mapped launches", "mixed launches", "paged launches"};
const char *const CounterNames[NumCounters] = {
    "launches",          "sliced launches",  "slices",
    "foreseen launches", "mixed launches",   "host-mapped launches",
    "paged launches",    "counted launches", "launches together",
    "evictions",         "host faults",      "buffered fallbacks"};

} // namespace

Stats Reporter::statistics(const Budget &limits, bool ended) const {
  const Ledger &ledger = Ctx.ledger;
  Stats stats;
  stats.device = Ctx.caps().name;
  stats.nanoseconds = uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - Begun)
          .count());
  stats.ended = ended;
  stats.limits = {
      {"device memory", limits.deviceBytes},
      {"host memory", Ctx.hostShare ? Ctx.hostShare->most() : limits.hostBytes},
      {"chunk", limits.chunkBytes}};
  stats.peaks = {{"device memory", OnDevice.most()},
                 {"host memory", OnHost.Pool.most()}};
  if (OnHost.Peers.any()) {
    stats.limits.push_back({"peer memory", OnHost.Peers.budget()});
    stats.peaks.push_back({"peer memory", OnHost.Peers.most()});
  }
  for (unsigned d = 0; d < NumDirections; ++d)
    for (unsigned c = 0; c < NumCauses; ++c)
      if (uint64_t bytes = ledger.bytes(Direction(d), Cause(c)))
        stats.moved.push_back({DirectionNames[d], CauseNames[c], bytes,
                               ledger.nanoseconds(Direction(d), Cause(c))});
  for (unsigned a = 0; a < NumAvoided; ++a)
    stats.avoided.push_back({AvoidedNames[a], ledger.avoided(Avoided(a))});
  for (unsigned way = 0; way < NumOverLink; ++way)
    stats.overLink.push_back(
        {OverLinkNames[way], ledger.accessed(OverLink(way))});
  for (unsigned c = 0; c < NumCounters; ++c)
    stats.counts.push_back({CounterNames[c], ledger.counter(Counter(c))});
  if (Ctx.share) {
    const GivenToOthers &given = Ctx.share->given;
    stats.shared = {{"memory lent", given.lent},
                    {"memory called back", given.calledBack},
                    {"swapped for it", given.swapped}};
    if (Ctx.hostShare) {
      const GivenToOthers &ofHost = Ctx.hostShare->given;
      stats.shared.push_back({"host memory called back", ofHost.calledBack});
      stats.shared.push_back({"written to files for it", ofHost.swapped});
    }
    stats.counts.push_back({"turns", Ctx.share->turns()});
  }
  return stats;
}

void RuntimeImpl::printStats(bool locked) {
  if (Ctx.config.stats.empty() && Ctx.config.report.empty())
    return;
  Stats stats = Tells.statistics(Ctx.limits, /*ended=*/true);
  if (Ctx.watcher && locked)
    Ctx.watcher->report(stats);
  if (!Ctx.config.report.empty() &&
      !Page.keepStats(Ctx.config, formatStatsJson(stats)))
    detail::printLine(
        fmt::format("DRAGON_REPORT: no statistics, cannot write into '{}': {}",
                    Ctx.config.swapDirs.front(), std::strerror(errno)));
  if (Ctx.config.stats.empty())
    return;
  if (Ctx.config.stats == "-") {
    writeText(STDERR_FILENO, formatStatsTable(stats));
    return;
  }
  if (const int code = Tells.writeStats(stats))
    detail::printLine(fmt::format("DRAGON_STATS: cannot write '{}': {}",
                                  Ctx.config.stats, std::strerror(code)));
}

Status RuntimeImpl::quiesce() {
  // Launches of other threads come before it, or behind it.
  const RuntimeLock::Whole whole(Ctx.lock);
  Status first = Waves.runAll();
  // The device may go away.
  Slabs.Pool.rest();
  Reads.dropAll();
  Writes.finishAll().ignore(); // what could not be written is still there
  if (Status status = Time.synchronizeAll(); first.ok())
    first = std::move(status);
  Pages.collect();
  if (Status status = Resident.releaseBlocks(); first.ok())
    first = std::move(status);
  for (std::unique_ptr<Buffer> &buffer : Space.Buffers)
    if (Status status =
            Announced.abandon(*buffer, [](const Sink &) { return true; });
        first.ok())
      first = std::move(status);
  for (std::unique_ptr<Buffer> &buffer : Space.Buffers)
    if ((buffer->flags & D_WRITE) && !(buffer->flags & D_VOLATILE)) {
      Status status = Out.sync(*buffer);
      if (!status.ok())
        detail::printLine(status.message());
      if (first.ok())
        first = std::move(status);
    }
  return first;
}

Status RuntimeImpl::shutdown() {
  if (ShutDown)
    return {};
  ShutDown = true;
  Status first = Closed ? Status() : quiesce();
  Ctx.device->finishTimeline();
  Tells.stop();
  if (Reported.exchange(true))
    return first;
  printStats(/*locked=*/true);
  if (Ctx.config.traced() && !stopTrace())
    detail::printLine(fmt::format(
        "{}: cannot write the trace: {}",
        Ctx.config.trace.empty() ? "DRAGON_REPORT"
                                 : "DRAGON_TRACE '" + Ctx.config.trace + "'",
        std::strerror(errno)));
  return first;
}

bool Runtime::reportBeforeDeath() {
  if (State->Reported.exchange(true))
    return false;
  // Who has the lock may be the thread that the signal met, which waits for us.
  constexpr auto Patience = std::chrono::milliseconds(500);
  const auto deadline = std::chrono::steady_clock::now() + Patience;
  bool locked = State->Ctx.lock.try_lock();
  while (!locked && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    locked = State->Ctx.lock.try_lock();
  }
  State->Tells.silence();
  State->printStats(locked);
  if (locked)
    State->Ctx.lock.unlock();
  if (State->Ctx.config.traced())
    stopTraceWithin(Patience);
  return true;
}

PageFiles Runtime::pageFiles() const { return State->Page; }

} // namespace dragon
