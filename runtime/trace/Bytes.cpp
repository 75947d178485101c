//===- Bytes.cpp - sizes as people write them -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Bytes.h"

#include <charconv>
#include <fmt/format.h>

namespace dragon {

std::string formatBytes(uint64_t bytes) {
  static const char *const Units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  unsigned unit = 0;
  uint64_t scale = 1;
  while (unit + 1 < std::size(Units) && bytes / scale >= 1024) {
    scale *= 1024;
    ++unit;
  }
  if (bytes % scale == 0)
    return fmt::format("{} {}", bytes / scale, Units[unit]);
  return fmt::format("{:.1f} {}", double(bytes) / double(scale), Units[unit]);
}

std::optional<uint64_t> parseBytes(std::string_view text) {
  uint64_t value = 0;
  const char *begin = text.data(), *end = begin + text.size();
  auto [rest, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || rest == begin)
    return std::nullopt;
  unsigned shift = 0;
  if (rest != end) {
    switch (*rest++) {
    case 'K':
    case 'k':
      shift = 10;
      break;
    case 'M':
    case 'm':
      shift = 20;
      break;
    case 'G':
    case 'g':
      shift = 30;
      break;
    case 'T':
    case 't':
      shift = 40;
      break;
    default:
      return std::nullopt;
    }
  }
  if (rest != end || (shift && value > (UINT64_MAX >> shift)))
    return std::nullopt;
  return value << shift;
}

} // namespace dragon
