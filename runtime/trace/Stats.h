//===- Stats.h - the ledger's figures, for printing -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What StatsTable and StatsJson print: rows with names. Core fills them from
// its ledger; nothing here knows what they mean.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TRACE_STATS_H
#define DRAGON_RUNTIME_TRACE_STATS_H

#include <cstdint>
#include <string>
#include <vector>

namespace dragon {

struct StatsMoved {
  std::string direction; ///< "file to host"
  std::string cause;     ///< "demand"
  uint64_t bytes;
  uint64_t nanoseconds; ///< 0: not measured
};
struct StatsNumber {
  std::string name;
  uint64_t value;
};

/// Over the link, as somebody else would have had it.
struct StatsTraffic {
  std::string who;
  uint64_t hostToDevice;
  uint64_t deviceToHost;
};
/// What was announced of a kernel's launches and what they did, in bytes.
struct StatsFootprint {
  std::string kernel;
  uint64_t launches = 0;
  uint64_t slices = 0;      ///< that they ran in; one each if it was not sliced
  uint64_t unknown = 0;     ///< of the slices: nothing was announced
  bool indirect = false;    ///< some address depends on loaded data
  bool conditional = false; ///< whether some access happens does
  // Sums over the slices:
  uint64_t touched = 0;
  uint64_t announced = 0;
  uint64_t missed = 0; ///< touched, not announced: an error
  uint64_t inVain = 0; ///< announced, not touched
  /// The part of `announced` that depends on no loaded data.
  uint64_t affine = 0;
  uint64_t affineInVain = 0;
  uint64_t overwritten = 0;    ///< announced to be, before any read
  uint64_t notOverwritten = 0; ///< of them: an error
};

struct Stats {
  std::string device;
  uint64_t nanoseconds = 0; ///< that the run took, or has taken by now
  bool ended = true;
  std::vector<StatsNumber> limits;  ///< budgets and chunk size, bytes
  std::vector<StatsNumber> peaks;   ///< the most that was held, bytes
  std::vector<StatsMoved> moved;    ///< without rows that are zero
  std::vector<StatsNumber> avoided; ///< bytes; all rows
  /// Bytes that kernels accessed in host memory themselves; all rows.
  std::vector<StatsNumber> overLink;
  std::vector<StatsNumber> counts; ///< all rows
  std::vector<StatsNumber> shared; ///< bytes; empty: no device is shared
  std::vector<StatsTraffic> traffic;
  std::vector<StatsFootprint> footprints;
};

/// A table for people; ends with a newline.
std::string formatStatsTable(const Stats &stats);
/// A JSON object: names as keys, with '_' for ' '; `moved` holds for each
/// direction its total bytes and the bytes and nanoseconds by cause.
std::string formatStatsJson(const Stats &stats);

} // namespace dragon

#endif // DRAGON_RUNTIME_TRACE_STATS_H
