//===- EscapeFinder.h - whether a pointer leaves its kernel -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pointer escapes if it is returned or given to code that is not seen. One
// that is stored in memory is kept: a kernel that follows pointers from memory
// may touch anything, others do not get at it again. Follows the uses of a
// parameter, through address arithmetic and through the functions that are
// seen.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_ESCAPEFINDER_H
#define DRAGON_PASSES_ACCESS_ESCAPEFINDER_H

#include "passes/access/AccessRecorder.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class CallBase;
class Function;
} // namespace llvm

namespace dragon {

class EscapeFinder {
public:
  EscapeFinder(llvm::Function &Kernel, llvm::ScalarEvolution &SE,
               AccessRecorder &Record, AccessRecorder::Pointer &P)
      : Kernel(Kernel), SE(SE), Record(Record), P(P) {}

  /// Records it if the pointer escapes or is kept.
  void run();

private:
  void followUses(llvm::Value &V);
  void followCall(llvm::CallBase &Call, llvm::Value &V);

  llvm::Function &Kernel;
  llvm::ScalarEvolution &SE;
  AccessRecorder &Record;
  AccessRecorder::Pointer &P;
  llvm::SmallPtrSet<llvm::Value *, 16> Seen;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_ESCAPEFINDER_H
