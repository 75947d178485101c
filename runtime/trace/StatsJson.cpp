//===- StatsJson.cpp - the statistics for programs ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Stats.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dragon {

namespace {

std::string key(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

} // namespace

std::string formatStatsJson(const Stats &stats) {
  nlohmann::ordered_json root;
  root["version"] = 1;
  root["device"] = stats.device;
  root["run"] = {{"nanoseconds", stats.nanoseconds}, {"ended", stats.ended}};
  for (const StatsNumber &limit : stats.limits)
    root["limits"][key(limit.name)] = limit.value;
  for (const StatsNumber &peak : stats.peaks)
    root["peaks"][key(peak.name)] = peak.value;
  root["moved"] = nlohmann::ordered_json::object();
  for (const StatsMoved &row : stats.moved) {
    nlohmann::ordered_json &direction = root["moved"][key(row.direction)];
    uint64_t sum =
        direction.contains("bytes") ? direction["bytes"].get<uint64_t>() : 0;
    direction["bytes"] = sum + row.bytes;
    direction["by_cause"][key(row.cause)] = {{"bytes", row.bytes},
                                             {"nanoseconds", row.nanoseconds}};
  }
  for (const StatsNumber &row : stats.avoided)
    root["avoided"][key(row.name)] = row.value;
  for (const StatsNumber &row : stats.overLink)
    root["over_link_estimated"][key(row.name)] = row.value;
  for (const StatsNumber &row : stats.counts)
    root["counts"][key(row.name)] = row.value;
  for (const StatsNumber &row : stats.shared)
    root["shared"][key(row.name)] = row.value;
  for (const StatsTraffic &row : stats.traffic)
    root["traffic"][key(row.who)] = {{"host_to_device", row.hostToDevice},
                                     {"device_to_host", row.deviceToHost}};
  for (const StatsFootprint &row : stats.footprints)
    root["footprints"].push_back({{"kernel", row.kernel},
                                  {"launches", row.launches},
                                  {"slices", row.slices},
                                  {"unknown", row.unknown},
                                  {"indirect", row.indirect},
                                  {"conditional", row.conditional},
                                  {"touched", row.touched},
                                  {"announced", row.announced},
                                  {"missed", row.missed},
                                  {"in_vain", row.inVain},
                                  {"affine", row.affine},
                                  {"affine_in_vain", row.affineInVain},
                                  {"overwritten", row.overwritten},
                                  {"not_overwritten", row.notOverwritten}});
  return root.dump(2) + "\n";
}

} // namespace dragon
