//===- Program.h - what dragon-info says of a program -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel summaries (dragon/KernelSummary.h) of an executable, a shared
// library or an object are found by their magic number, wherever the file has
// them: no symbol names them. Nor one the notes of --dragon-report, strings
// that begin with words of their own.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_INFO_PROGRAM_H
#define DRAGON_TOOLS_DRAGON_INFO_PROGRAM_H

#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace dragon::info {

struct KernelPointer {
  std::string Name; ///< of the parameter; "argument 2" if it has none
  std::string Use;  ///< "read, where is data"
};

struct ProgramKernel {
  std::string Name;
  /// Empty: it can be cut into launches of some of its blocks.
  std::string WhyNotSliced;
  /// It may touch any buffer.
  bool TouchesAnything = false;
  bool CutAlongLoop = false, MayFetchPages = false, CountsAccesses = false;
  std::vector<KernelPointer> Pointers;
};

struct ProgramFacts {
  std::vector<ProgramKernel> Kernels; ///< those that dragon-cc has analysed
  /// What --dragon-report=<dir> has noted: files with what the compiler did to
  /// its units, and the folders that these were compiled in.
  std::vector<std::string> Records, Folders;
};

/// DRAGON_ERROR_FILE if it cannot be read.
StatusOr<ProgramFacts> findProgram(const std::string &Path);

std::string formatText(const std::string &Path, const ProgramFacts &Facts);
std::string formatJson(const ProgramFacts &Facts);

} // namespace dragon::info

#endif // DRAGON_TOOLS_DRAGON_INFO_PROGRAM_H
