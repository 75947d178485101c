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

#include <cstdio>

namespace dragon {

namespace {

const char *const DirectionNames[NumDirections] = {
    "file to host", "host to device", "device to host",  "host to file",
    "swap to host", "host to swap",   "device to device"};
const char *const CauseNames[NumCauses] = {"demand", "prefetch", "eviction",
                                           "sync",   "copy",     "host access"};
const char *const AvoidedNames[NumAvoided] = {
    "read-only", "write-only", "discard", "clean", "elided staging"};
const char *const CounterNames[NumCounters] = {
    "launches",          "sliced launches",   "slices",
    "foreseen launches", "mixed launches",    "host-mapped launches",
    "counted launches",  "launches together", "evictions",
    "host faults",       "buffered fallbacks"};

Stats collect(const Ledger &ledger, const char *device, const Budget &limits) {
  Stats stats;
  stats.device = device;
  stats.limits = {{"device memory", limits.deviceBytes},
                  {"host memory", limits.hostBytes},
                  {"chunk", limits.chunkBytes}};
  for (unsigned d = 0; d < NumDirections; ++d)
    for (unsigned c = 0; c < NumCauses; ++c)
      if (uint64_t bytes = ledger.bytes(Direction(d), Cause(c)))
        stats.moved.push_back({DirectionNames[d], CauseNames[c], bytes,
                               ledger.nanoseconds(Direction(d), Cause(c))});
  for (unsigned a = 0; a < NumAvoided; ++a)
    stats.avoided.push_back({AvoidedNames[a], ledger.avoided(Avoided(a))});
  for (unsigned c = 0; c < NumCounters; ++c)
    stats.counts.push_back({CounterNames[c], ledger.counter(Counter(c))});
  return stats;
}

} // namespace

void Runtime::Impl::printStats() {
  if (Config.stats.empty())
    return;
  Stats stats = collect(Bytes, Dev->caps().name, Limits);
  stats.peaks = {{"device memory", DevicePool.most()},
                 {"host memory", HostPool.most()}};
  if (Watcher)
    Watcher->report(stats);
  if (Config.stats == "-") {
    std::string table = formatStatsTable(stats);
    std::fwrite(table.data(), 1, table.size(), stderr);
    std::fflush(stderr);
    return;
  }
  std::string json = formatStatsJson(stats);
  std::FILE *file = std::fopen(Config.stats.c_str(), "we");
  bool good =
      file && std::fwrite(json.data(), 1, json.size(), file) == json.size();
  if (file)
    good &= std::fclose(file) == 0;
  if (!good)
    detail::printLine(
        fmt::format("DRAGON_STATS: cannot write '{}'", Config.stats));
}

Status Runtime::Impl::usable() const {
  return Closed ? Status::error(DRAGON_ERROR_NO_DEVICE, "the process is ending")
                : Status();
}

Status Runtime::Impl::ready() {
  DRAGON_TRY(usable());
  Waiting.interrupted = true;
  return Waiting.launches.empty() ? Status() : runWaiting();
}

Status Runtime::Impl::quiesce() {
  Status first = runWaiting();
  // The device may go away.
  HostPool.rest();
  dropAllReadings();
  finishAllWritings().ignore(); // what could not be written is still there
  if (Status status = synchronizeAll(); first.ok())
    first = std::move(status);
  for (std::unique_ptr<Buffer> &buffer : Buffers)
    if (Status status =
            abandonSinks(*buffer, [](const Sink &) { return true; });
        first.ok())
      first = std::move(status);
  for (std::unique_ptr<Buffer> &buffer : Buffers)
    if ((buffer->flags & D_WRITE) && !(buffer->flags & D_VOLATILE)) {
      Status status = sync(*buffer);
      if (!status.ok())
        detail::printLine(status.message());
      if (first.ok())
        first = std::move(status);
    }
  return first;
}

Status Runtime::Impl::shutdown() {
  if (ShutDown)
    return {};
  ShutDown = true;
  Status first = Closed ? Status() : quiesce();
  Dev->finishTimeline();
  printStats();
  if (!Config.trace.empty() && !stopTrace())
    detail::printLine(
        fmt::format("DRAGON_TRACE: cannot write '{}'", Config.trace));
  return first;
}

} // namespace dragon
