//===- WarpIntrinsics.h - operations of a warp on the host ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shuffles, votes, matches and reductions over the lanes of a warp become calls
// of the runtime, which lets the lanes meet.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_WARPINTRINSICS_H
#define DRAGON_PASSES_CPU_WARPINTRINSICS_H

#include "passes/cpu/IntrinsicCall.h"

#include "llvm/ADT/StringRef.h"

namespace dragon {

class WarpIntrinsics : protected IntrinsicCall {
protected:
  using IntrinsicCall::IntrinsicCall;

  /// Null: the intrinsic is none of them.
  llvm::Value *warpOperation(llvm::StringRef Name);

private:
  llvm::Value *shuffle(llvm::StringRef Name, bool Sync);
  /// The mask of operations that had none before Volta: all active lanes.
  llvm::Value *activeLanes() {
    return call(RuntimeFunction::dragon_cpu_activemask, {Thread->context()});
  }
  llvm::Value *match(llvm::StringRef Name);
  llvm::Value *redux(llvm::StringRef Name);
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_WARPINTRINSICS_H
