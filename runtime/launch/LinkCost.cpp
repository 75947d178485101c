//===- LinkCost.cpp - what ways to run a launch cost the link -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LinkCost.h"

#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <tuple>

namespace dragon {

double gainOnDevice(const PlacedChunk &chunk, const LinkRates &rates,
                    double launches) {
  const double bytes = chunk.copied ? double(chunk.bytes) : 0;
  double onHost = launches * chunk.accessBytes / rates.mapped;
  if (!chunk.mappable)
    onHost += double(chunk.bytes) / rates.mapping;
  return chunk.onDevice ? onHost + bytes / rates.toHost
                        : onHost - bytes / rates.toDevice;
}

std::vector<bool> chooseForDevice(std::span<const PlacedChunk> chunks,
                                  uint64_t budget, const LinkRates &rates,
                                  double launches) {
  std::vector<double> gain(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i)
    gain[i] = gainOnDevice(chunks[i], rates, launches) /
              double(std::max<uint64_t>(1, chunks[i].bytes));
  std::vector<uint32_t> order(chunks.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (chunks[a].mustStay != chunks[b].mustStay)
      return chunks[a].mustStay;
    return gain[a] != gain[b] ? gain[a] > gain[b] : a < b;
  });
  std::vector<bool> chosen(chunks.size());
  uint64_t left = budget;
  for (uint32_t i : order) {
    const PlacedChunk &chunk = chunks[i];
    if ((chunk.mustStay || gain[i] > 0) && chunk.bytes <= left) {
      chosen[i] = true;
      left -= chunk.bytes;
    }
  }
  return chosen;
}

namespace {

/// Puts as much as possible on the device: the large chunks first, and among
/// equals those that peers cannot have and those that are there.
std::vector<bool> fillDevice(std::span<const PlacedChunk> chunks,
                             uint64_t budget, bool hostOnlyFirst) {
  std::vector<uint32_t> order(chunks.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    auto rank = [&](uint32_t i) {
      const PlacedChunk &chunk = chunks[i];
      return std::tuple(!chunk.mustStay, hostOnlyFirst && !chunk.hostOnly,
                        ~chunk.bytes, !chunk.hostOnly, !chunk.onDevice, i);
    };
    return rank(a) < rank(b);
  });
  std::vector<bool> chosen(chunks.size());
  for (uint32_t i : order)
    if (chunks[i].bytes <= budget) {
      budget -= chunks[i].bytes;
      chosen[i] = true;
    }
  return chosen;
}

bool leavesFor(std::span<const PlacedChunk> chunks,
               const std::vector<bool> &onDevice, const HostRoom &room) {
  uint64_t bytes = 0, hostOnly = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (onDevice[i])
      continue;
    if (chunks[i].mustStay)
      return false;
    bytes += chunks[i].bytes;
    hostOnly += chunks[i].hostOnly ? chunks[i].bytes : 0;
  }
  return room.holds(bytes, hostOnly);
}

} // namespace

std::optional<std::vector<bool>>
choosePlaces(std::span<const PlacedChunk> chunks, uint64_t deviceBudget,
             const HostRoom &host, const LinkRates &rates, double launches) {
  std::vector<bool> full = fillDevice(chunks, deviceBudget, false);
  if (!leavesFor(chunks, full, host)) {
    full = fillDevice(chunks, deviceBudget, true);
    if (!leavesFor(chunks, full, host))
      return std::nullopt;
  }
  std::vector<bool> best =
      chooseForDevice(chunks, deviceBudget, rates, launches);
  return leavesFor(chunks, best, host) ? best : full;
}

double secondsOf(const LaunchCost &cost, const LinkRates &rates) {
  return double(cost.copied) / rates.toDevice + cost.mapped / rates.mapped +
         double(cost.converted) / rates.mapping;
}

std::string describe(const LaunchCost &cost) {
  std::string text = cost.name;
  if (cost.parts > 1)
    text += fmt::format(" in {}", cost.parts);
  if (!cost.possible)
    return text + " (does not fit)";
  text += fmt::format(" (copies {}", formatBytes(cost.copied));
  if (cost.mapped > 0)
    text += fmt::format(", accesses {} over the link",
                        formatBytes(uint64_t(cost.mapped)));
  if (cost.converted > 0)
    text += fmt::format(", makes {} mappable", formatBytes(cost.converted));
  return text + fmt::format(", {:.3g} s)", cost.seconds);
}

} // namespace dragon
