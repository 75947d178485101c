//===- LibraryResidency.h - buffers under library calls ------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library function works on device memory without the runtime's knowing. So
// the runtime is told in front of each call what the summary says:
//
//   token = __dragon_library_begin(&where, stream.., 3, A, bytes, read, ...)
//   if (token) {
//     status = cublasSgemm(..., A, ..., C, ...)
//     __dragon_library_end(token)
//   } else
//     status = <the summary's `failure`>      // and the error has been told
//
// Sizes and conditions are computed from the call's arguments. What is not
// known here, and is of a library by its name, is announced by
// __dragon_library_unknown.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_LIBRARYRESIDENCY_H
#define DRAGON_PASSES_REWRITE_LIBRARYRESIDENCY_H

#include "llvm/IR/PassManager.h"

namespace llvm {
class CallBase;
} // namespace llvm

namespace dragon {

/// For all calls in the module. Returns whether it changed.
bool insertResidency(llvm::Module &M);

/// `dragon-library-residency`.
class LibraryResidencyPass : public llvm::PassInfoMixin<LibraryResidencyPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &) {
    return insertResidency(M) ? llvm::PreservedAnalyses::none()
                              : llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

/// In front of a call of a function that nothing is known of. Sure: it is of a
/// library that works on device memory by itself.
void announceUnknownCall(llvm::CallBase &Call, bool Sure);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_LIBRARYRESIDENCY_H
