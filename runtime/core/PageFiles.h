//===- PageFiles.h - what the page of a run is made of ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAGON_REPORT=file makes a page of the run's trace and statistics. Both are
// in files without a name, which nobody has to remove however the process ends;
// who makes the page inherits the descriptors. What the user wants by
// DRAGON_TRACE and DRAGON_STATS is there as well: the trace is written once.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_PAGEFILES_H
#define DRAGON_RUNTIME_CORE_PAGEFILES_H

#include "runtime/base/Settings.h"

#include <string>

namespace dragon {

/// Descriptors are closed when the process ends. Those that are -1 are not
/// there. Not thread-safe.
struct PageFiles {
  int trace = -1;
  int stats = -1;

  /// Begins the trace, if DRAGON_TRACE has not. False with errno if there is no
  /// file for it.
  bool openTrace(const Settings &settings);
  /// Keeps the statistics. False with errno if that fails.
  bool keepStats(const Settings &settings, const std::string &json);
};

/// Writes without stdio, whose locks a thread that will not go on may hold. 0,
/// or what errno says.
int writeText(int file, const std::string &text);

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_PAGEFILES_H
