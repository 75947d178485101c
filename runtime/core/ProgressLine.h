//===- ProgressLine.h - where a run is, in a line ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   dragon: 12 s, launch 7 'grow', slice 3 of 12, 9 s left; to the device 21 of
//   53 GB/s, disk read 2.1 of 3.0 GB/s; held 16 MiB, on the host 64 MiB
//
// Pure: no clock, no device.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_PROGRESSLINE_H
#define DRAGON_RUNTIME_CORE_PROGRESSLINE_H

#include "runtime/base/Progress.h"

#include <cstdint>
#include <string>

namespace dragon {

struct ProgressFigures {
  double seconds = 0;  ///< since the run began
  uint64_t launch = 0; ///< the last one that began
  Progress::Place place;
  double placeSeconds = 0; ///< since its first slice
  /// Bytes a second, of late, and the most that has been measured; 0: not
  /// known.
  struct Rate {
    double now = 0, most = 0;
  };
  Rate toDevice, fromDevice, diskRead, diskWrite;
  uint64_t deviceHeld = 0, hostHeld = 0;
};

/// Of at most so many characters.
std::string progressLine(const ProgressFigures &figures, size_t columns);

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_PROGRESSLINE_H
