//===- SourceNames.h - places in the user's source ------------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks and messages speak of the user's lines: of the line that calls
// cudaMalloc, not of the line in cuda_runtime.h that implements a template
// around it. Functions have the names that the user gave them, not the
// compiler's.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SOURCENAMES_H
#define DRAGON_PASSES_SOURCENAMES_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm {
class DILocation;
class DISubprogram;
class DiagnosticLocation;
class Function;
class Instruction;
} // namespace llvm

namespace dragon {

/// A function's name for the user: demangled, without parameters.
std::string displayName(llvm::StringRef Symbol);

/// The line of a function. Its column is 1: subprograms have none, and clang
/// shows no line without one.
llvm::DiagnosticLocation lineOf(const llvm::Function &F);

/// Where something was inlined into the user's code, if it is in a header of
/// the CUDA toolkit or of the C++ library.
const llvm::DILocation *outOfLibraries(const llvm::DILocation *Location);

/// Where the user finds what the instructions of a function do that others were
/// inlined into.
class UserLocations {
public:
  explicit UserLocations(const llvm::Function &F);

  /// The innermost place that is not in one of these headers, and not in a
  /// helper that was inlined in several places: there, the call of the helper
  /// tells more. Null: there are no locations.
  const llvm::DILocation *of(const llvm::Instruction &I) const;

private:
  llvm::SmallPtrSet<const llvm::DISubprogram *, 8> Repeated;
};

} // namespace dragon

#endif // DRAGON_PASSES_SOURCENAMES_H
