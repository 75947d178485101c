//===- StatsTable.cpp - the statistics for people -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Stats.h"

#include <fmt/format.h>

namespace dragon {

namespace {

/// Bytes, of the rows that are not zero; nothing without such rows.
std::string formatBytesOf(const std::vector<StatsNumber> &rows,
                          std::string_view title, std::string_view what) {
  std::string text;
  for (const StatsNumber &row : rows)
    if (row.value)
      text +=
          fmt::format("  {:<18} {:>25}\n", row.name, formatBytes(row.value));
  return text.empty() ? text
                      : fmt::format("  {:<18} {:>25}\n", title, what) + text;
}

} // namespace

std::string formatStatsTable(const Stats &stats) {
  std::string text = fmt::format("dragon: statistics ({} device", stats.device);
  for (const StatsNumber &limit : stats.limits)
    text += fmt::format(", {} {}", limit.name, formatBytes(limit.value));
  text += ")\n";
  text += fmt::format("  ran for: {:.{}f} s\n", double(stats.nanoseconds) / 1e9,
                      stats.nanoseconds < 10'000'000'000 ? 3 : 0);
  if (!stats.peaks.empty()) {
    text += "  held at most:";
    for (const StatsNumber &peak : stats.peaks)
      text += fmt::format("{} {} {}", &peak == &stats.peaks.front() ? "" : ",",
                          peak.name, formatBytes(peak.value));
    text += "\n";
  }
  text += fmt::format("  {:<18} {:<12} {:>12} {:>12}\n", "moved", "cause",
                      "bytes", "GB/s");
  for (const StatsMoved &row : stats.moved) {
    std::string speed =
        row.nanoseconds
            ? fmt::format("{:.1f}", double(row.bytes) / double(row.nanoseconds))
            : "-";
    text += fmt::format("  {:<18} {:<12} {:>12} {:>12}\n", row.direction,
                        row.cause, formatBytes(row.bytes), speed);
  }
  if (stats.moved.empty())
    text += "  nothing\n";
  text += fmt::format("  {:<18} {:>25}\n", "not moved", "bytes");
  for (const StatsNumber &row : stats.avoided)
    if (row.value)
      text +=
          fmt::format("  {:<18} {:>25}\n", row.name, formatBytes(row.value));
  text += formatBytesOf(stats.overLink, "in host memory", "about bytes");
  if (!stats.shared.empty())
    text += fmt::format("  {:<24} {:>19}\n", "for other programs", "bytes");
  for (const StatsNumber &row : stats.shared)
    text += fmt::format("  {:<24} {:>19}\n", row.name, formatBytes(row.value));
  text += fmt::format("  {:<24} {:>19}\n", "events", "count");
  for (const StatsNumber &row : stats.counts)
    if (row.value)
      text += fmt::format("  {:<24} {:>19}\n", row.name, row.value);
  if (!stats.traffic.empty())
    text += fmt::format("  {:<32} {:>14} {:>14}\n", "over the link",
                        "host to device", "device to host");
  for (const StatsTraffic &row : stats.traffic)
    text += fmt::format("  {:<32} {:>14} {:>14}\n", row.who,
                        formatBytes(row.hostToDevice),
                        formatBytes(row.deviceToHost));
  if (!stats.footprints.empty())
    text += fmt::format("  {:<24} {:>8} {:>8} {:>12} {:>12} {:>8} {:>9} {:>12} "
                        "{:>8}\n",
                        "kernel", "launches", "unknown", "touched", "announced",
                        "missed", "in vain", "overwritten", "not");
  for (const StatsFootprint &row : stats.footprints)
    text += fmt::format(
        "  {:<24} {:>8} {:>8} {:>12} {:>12} {:>8} {:>8.2f}% {:>12} {:>8}{}\n",
        row.kernel, row.launches, row.unknown, formatBytes(row.touched),
        formatBytes(row.announced), row.missed,
        row.announced ? 100.0 * double(row.inVain) / double(row.announced) : 0,
        formatBytes(row.overwritten), row.notOverwritten,
        row.indirect      ? "  indirect"
        : row.conditional ? "  conditional"
                          : "");
  return text;
}

} // namespace dragon
