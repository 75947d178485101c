//===- WaitingLaunch.cpp - launches that are kept back --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/WaitingLaunch.h"
#include "runtime/base/Rounding.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace dragon {

WaitingLaunch::WaitingLaunch(ResolvedLaunch launch,
                             std::shared_ptr<PlannedLaunch> planned,
                             uint64_t clock)
    : Launch(std::move(launch)),
      LastUses(Launch.lastUses.begin(), Launch.lastUses.end()),
      Planned(std::move(planned)), Clock(clock) {
  const KernelRecord &record = *Launch.kernel->record;
  const uint32_t *sizes = Launch.kernel->summary->argSizes(record);
  constexpr size_t Alignment = alignof(std::max_align_t);
  auto padded = [](size_t bytes) { return roundUp(bytes, Alignment); };
  size_t bytes = 0;
  for (uint32_t i = 0; i < record.NumArgs; ++i)
    bytes += padded(sizes[i]);
  Bytes = std::make_unique<char[]>(bytes);
  char *to = Bytes.get();
  for (uint32_t i = 0; i < record.NumArgs; ++i) {
    std::memcpy(to, Launch.args[i], sizes[i]);
    Args.push_back(to);
    to += padded(sizes[i]);
  }
  Launch.args = Args.data();
  Launch.lastUses = LastUses;
}

ComingUses::ComingUses(std::span<const WaitingLaunch> launches) {
  for (size_t i = 0; i < launches.size(); ++i)
    inTurn(launches[i].planned().whole.uses,
           [&](const ChunkUse &use, size_t number, size_t count) {
             const uint64_t at =
                 launches[i].clock() + 1 + number * (LaunchSpan / count);
             Uses[use.chunk].push_back({i, {at, use.mustWrite(), true}});
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

} // namespace dragon
