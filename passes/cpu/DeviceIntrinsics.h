//===- DeviceIntrinsics.h - llvm.nvvm.* on the host -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What device code says in intrinsics and calls of CUDA's device library
// (vprintf, malloc, __assertfail): special registers become values of the
// ThreadContext, barriers and warp operations calls of the runtime, arithmetic
// plain IR.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_DEVICEINTRINSICS_H
#define DRAGON_PASSES_CPU_DEVICEINTRINSICS_H

#include "passes/cpu/ContextParameters.h"
#include "passes/cpu/Unsupported.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class CallInst;
class IRBuilderBase;
} // namespace llvm

namespace dragon {

/// A call of the runtime's yield, before the thread's context is known. Takes
/// whether (i32) the thread cannot go on before others have.
constexpr llvm::StringRef YieldPlaceholder = "dragon.yield";

/// The lowered form of I needs the thread's context.
bool needsContext(const llvm::Instruction &I);

/// Puts a call that lets other threads run into each loop that waits for them.
void yieldInSpinLoops(llvm::Module &M);

/// Lowers all calls of device intrinsics and library functions in M.
void lowerDeviceIntrinsics(llvm::Module &M, ContextMap &Contexts,
                           Unsupported &Refused);

/// The part of it that is arithmetic: `Name` without "llvm.nvvm.". Null if it
/// is none.
llvm::Value *lowerArithmeticIntrinsic(llvm::StringRef Name,
                                      llvm::CallInst &Call);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_DEVICEINTRINSICS_H
