//===- ProgressLine.cpp - where a run is, in a line -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ProgressLine.h"

#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <fmt/format.h>

namespace dragon {

static std::string duration(double seconds) {
  if (seconds < 9.95)
    return fmt::format("{:.1f} s", seconds);
  const auto whole = uint64_t(seconds + 0.5);
  if (whole < 120)
    return fmt::format("{} s", whole);
  return whole < 7200
             ? fmt::format("{} min", whole / 60)
             : fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

static std::string placeOf(const ProgressFigures &figures) {
  const Progress::Place &place = figures.place;
  if (!place.slices)
    return "";
  std::string text = fmt::format(" '{}'", place.kernel);
  if (place.more)
    text += fmt::format(" with {} behind it", place.more);
  text += fmt::format(", slice {} of {}", place.slice, place.slices);
  // As long as those before it took, one with the other.
  if (place.slice > 1 && place.slices > 1)
    text += fmt::format(
        ", {} left", duration(figures.placeSeconds / double(place.slice - 1) *
                              double(place.slices - place.slice + 1)));
  return text;
}

static std::string ratesOf(const ProgressFigures &figures) {
  std::string text;
  auto add = [&](const char *what, const ProgressFigures::Rate &rate) {
    if (rate.now <= 0)
      return;
    auto number = [](double bytes) {
      const double giga = bytes / 1e9;
      return fmt::format("{:.{}f}", giga, giga < 9.95 ? 1 : 0);
    };
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what,
                        number(rate.now));
    if (rate.most > 0)
      text += " of " + number(std::max(rate.most, rate.now));
    text += " GB/s";
  };
  add("to the device", figures.toDevice);
  add("from it", figures.fromDevice);
  add("disk read", figures.diskRead);
  add("disk write", figures.diskWrite);
  return text.empty() ? "nothing moves" : text;
}

std::string progressLine(const ProgressFigures &figures, size_t columns) {
  const std::string text =
      fmt::format("dragon: {}, launch {}{}; {}; held {}, on the host {}",
                  duration(figures.seconds), figures.launch, placeOf(figures),
                  ratesOf(figures), formatBytes(figures.deviceHeld),
                  formatBytes(figures.hostHeld));
  return text.substr(0, columns);
}

} // namespace dragon
