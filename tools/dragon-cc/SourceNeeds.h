//===- SourceNeeds.h - what the text of a source asks for -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some arguments of clang depend on what a CUDA source says. The class reads
// each source once, with the user's headers that the source includes, and
// remembers the arguments:
//
// * A source that calls cudaBindTexture gets a macro that declares texture
//   references.
// * A file that only nvcc can read (SourceWords.h, HeaderEdits.h) has an edited
//   copy. An overlay of the file system puts the copy in the file's place.
// * A source that includes Thrust and asks for -std=c++14 gets -std=c++17, and
//   the user gets a warning.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_SOURCENEEDS_H
#define DRAGON_TOOLS_DRAGON_CC_SOURCENEEDS_H

#include "tools/dragon-cc/Strings.h"
#include "tools/dragon-cc/ToolPaths.h"
#include "tools/dragon-cc/UnitNames.h"

#include "llvm/ADT/StringMap.h"

namespace dragon::driver {

class SourceNeeds {
public:
  /// `Names` takes the copies, which the driver writes before the first step.
  SourceNeeds(const Invocation &Asked, const ToolPaths &Tools, UnitNames &Names)
      : Asked(Asked), Tools(Tools), Names(Names) {}

  /// The arguments for a CUDA source: macros and the overlay.
  const Strings &arguments(const Input &One);
  /// The language standard: the one that the user asks for, unless the source
  /// includes what CUDA 13 has for C++17 and later only.
  const std::string &standard(const Input &One);

  /// The sources whose copies the driver may complete (MissingTemplates.h):
  /// path of the source, and of the copy that is compiled in its place.
  const std::vector<std::pair<std::string, std::string>> &sources() const {
    return Sources;
  }
  /// The warnings that the user gets about all this.
  const Strings &warnings() const { return Warnings; }

private:
  /// The folders of the user's -I.
  Strings includeFolders() const;

  const Invocation &Asked;
  const ToolPaths &Tools;
  UnitNames &Names;
  llvm::StringMap<Strings> Arguments;     ///< by path of the source
  llvm::StringMap<std::string> Standards; ///< by path of the source
  std::vector<std::pair<std::string, std::string>> Sources;
  Strings Warnings;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_SOURCENEEDS_H
