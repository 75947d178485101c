//===- Parameters.h - what the server is told -------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plugin's parameters, key=value on nbdkit's command line, and the DRAGON_
// variables that a program of dragon-cc heeds, too. A parameter comes before
// the variable of the same meaning.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_NBD_PARAMETERS_H
#define DRAGON_TOOLS_DRAGON_NBD_PARAMETERS_H

#include "runtime/base/Settings.h"
#include "tools/dragon-nbd/SpareMemory.h"

#include <optional>
#include <string>

namespace dragon::nbd {

struct Parameters {
  uint64_t Size = 0;
  SpareMemory::Limits Limits;
  std::optional<uint64_t> Area;
  std::vector<std::string> Directories;
  std::string Device; ///< empty: DRAGON_BACKEND
  bool ReserveFile = true;
  bool FlushToFile = false;
  std::string StatisticsFile;

  uint64_t areaBytes(const Settings &Settings) const;
};

/// What nbdkit shows for --help.
extern const char *const ParametersHelp;

/// One parameter. False: it is wrong, and nbdkit_error has said why.
bool setParameter(Parameters &All, const char *Key, const char *Value);
/// All are there, and agree. False: as above.
bool checkParameters(const Parameters &All);
/// The environment's settings, with the parameters in their place.
StatusOr<Settings> settingsFor(const Parameters &All);

} // namespace dragon::nbd

#endif // DRAGON_TOOLS_DRAGON_NBD_PARAMETERS_H
