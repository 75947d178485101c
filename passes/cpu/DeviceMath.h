//===- DeviceMath.h - libdevice on the host ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_DEVICEMATH_H
#define DRAGON_PASSES_CPU_DEVICEMATH_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// Gives the declared functions of libdevice a meaning on the host
/// (DeviceMath.def); those with a body stay as they are.
void lowerDeviceMath(llvm::Module &M);

/// A function of the C library that lowered code may call.
bool isMathLibraryFunction(llvm::StringRef Name);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_DEVICEMATH_H
