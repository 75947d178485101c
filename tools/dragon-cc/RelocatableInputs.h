//===- RelocatableInputs.h - does a link need a device link? ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects and archives on the command line may have been compiled with
// -rdc=true: then device code is linked as well, as nvcc does. This looks into
// them, and into the archives that -l names. What the linker takes of archives
// with such code depends on all that it reads.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_RELOCATABLEINPUTS_H
#define DRAGON_TOOLS_DRAGON_CC_RELOCATABLEINPUTS_H

#include "tools/dragon-cc/NvccOptions.h"

namespace dragon::driver {

/// An object or an archive of which the linker takes what it needs, or all.
struct LinkedFile {
  std::string Path;
  bool Whole = false;
};

struct RelocatableInputs {
  /// Files with device code of units, or with the result of a device link.
  std::vector<std::string> Files;
  /// The architectures that all units have; lowest first.
  std::vector<GpuArch> Archs;
  bool Any = false;                ///< units that no device link has seen
  bool InArchives = false;         ///< some of them
  bool WhatIsTakenIsKnown = true;  ///< of archives, from Program
  std::vector<LinkedFile> Program; ///< what the linker reads, in its order
  /// The first file that was compiled with -flto, or has such an object.
  std::string HostBitcode;
};

/// Files that cannot be opened have none: the link will say so.
llvm::Expected<RelocatableInputs>
findRelocatableInputs(const Invocation &Asked);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_RELOCATABLEINPUTS_H
