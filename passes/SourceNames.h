//===- SourceNames.h - places in the user's source ------------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks and messages speak of the user's lines: of the line that calls
// cudaMalloc, not of the line in cuda_runtime.h that implements a template
// around it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SOURCENAMES_H
#define DRAGON_PASSES_SOURCENAMES_H

namespace llvm {
class DILocation;
class Instruction;
} // namespace llvm

namespace dragon {

/// The innermost place that is not in a header of the CUDA toolkit or of the
/// C++ library. Null: there are no locations.
const llvm::DILocation *userLocation(const llvm::Instruction &I);

} // namespace dragon

#endif // DRAGON_PASSES_SOURCENAMES_H
