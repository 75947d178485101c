//===- Program.h - what dragon-info says of a program -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel summaries (dragon/KernelSummary.h) of an executable, a shared
// library or an object are found by their magic number, wherever the file has
// them: no symbol names them.
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

/// DRAGON_ERROR_FILE if it cannot be read. Without kernels of dragon-cc: none.
StatusOr<std::vector<ProgramKernel>> findKernels(const std::string &Path);

std::string formatText(const std::string &Path,
                       const std::vector<ProgramKernel> &Kernels);
std::string formatJson(const std::vector<ProgramKernel> &Kernels);

} // namespace dragon::info

#endif // DRAGON_TOOLS_DRAGON_INFO_PROGRAM_H
