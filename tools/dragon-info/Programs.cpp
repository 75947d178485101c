//===- Programs.cpp - who shares a device ---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-info/Programs.h"

#include "runtime/share/DeviceShare.h"
#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dragon::info {

namespace {

uint64_t heldIn(const SeenShare &Share) {
  uint64_t Held = 0;
  for (const ShareProgram &Program : Share.programs)
    Held += Program.held;
  return Held;
}

/// "device NAME", or "host memory".
std::string memoryOf(const SeenShare &Share) {
  return isHostMemory(Share) ? "host memory" : "device " + Share.device;
}

std::string nameOf(const ShareProgram &Program) {
  return {Program.name, ::strnlen(Program.name, sizeof Program.name)};
}

const char *stateOf(const ShareProgram &Program) {
  return Program.stopped                       ? "is stopped"
         : Program.waits && Program.asksFor    ? "waits for its turn"
         : Program.waitsFor || Program.asksFor ? "waits for memory"
         : Program.held > Program.limit        ? "gives memory back"
         : Program.spare                       ? "takes what is spare"
         : Program.yields                      ? "does not use the device"
                                               : "";
}

std::string text(const std::vector<SeenShare> &Shares) {
  std::string Out;
  for (const SeenShare &Share : Shares) {
    Out += fmt::format("{}: {} of {} in use by {} program{}\n", memoryOf(Share),
                       formatBytes(heldIn(Share)), formatBytes(Share.total),
                       Share.programs.size(),
                       Share.programs.size() == 1 ? "" : "s");
    if (Share.programs.empty())
      continue;
    Out += fmt::format("  {:>8} {:<20} {:>6} {:>10} {:>10} {:>10}\n", "process",
                       "program", "weight", "holds", "may hold", "wants");
    for (const ShareProgram &Program : Share.programs)
      Out += fmt::format("  {:>8} {:<20.20} {:>6} {:>10} {:>10} {:>10}  {}\n",
                         Program.pid, nameOf(Program), Program.weight,
                         formatBytes(Program.held), formatBytes(Program.limit),
                         formatBytes(Program.wanted), stateOf(Program));
  }
  return Out.empty() ? "no device is shared\n" : Out;
}

std::string json(const std::vector<SeenShare> &Shares) {
  using Json = nlohmann::ordered_json;
  Json All = Json::array();
  for (const SeenShare &Share : Shares) {
    Json Programs = Json::array();
    for (const ShareProgram &Program : Share.programs)
      Programs.push_back(
          {{"pid", Program.pid},
           {"program", nameOf(Program)},
           {"weight", Program.weight},
           {"held", Program.held},
           {"limit", Program.limit},
           {"wanted", Program.wanted},
           {"waits_for", std::max(Program.waitsFor, Program.asksFor)},
           {"claims", Program.claim},
           {"waits_for_turn", Program.waits && Program.asksFor},
           {"turns", Program.turns},
           {"stopped", Program.stopped != 0},
           {"yields", Program.yields != 0},
           {"spare", Program.spare != 0}});
    All.push_back({{"memory", isHostMemory(Share) ? "host" : "device"},
                   {"device", Share.device},
                   {"total", Share.total},
                   {"most_held", Share.mostHeld},
                   {"programs", Programs}});
  }
  return All.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

int showPrograms(const std::string &Directory, ProgramsShown Shown, bool Json) {
  const bool Screen = Shown == ProgramsShown::EachSecond && ::isatty(1);
  while (true) {
    const std::vector<SeenShare> Shares = lookAtShares(Directory);
    fmt::print("{}{}", Screen ? "\033[H\033[J" : "",
               Json ? json(Shares) : text(Shares));
    std::fflush(stdout);
    if (Shown == ProgramsShown::Once)
      return Shares.empty() ? 1 : 0;
    ::sleep(1);
  }
}

} // namespace dragon::info
