//===- DeviceFunctions.h - functions that a device has ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_DEVICEFUNCTIONS_H
#define DRAGON_PASSES_SUPPORT_DEVICEFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace dragon {

/// Of libdevice: touches nothing but what second results are written to.
inline bool isMathFunction(llvm::StringRef Name) {
  return Name.starts_with("__nv_");
}

/// Strings are read by the device's own printing, before the kernel ends.
inline bool isPrinting(llvm::StringRef Name) {
  return Name == "vprintf" || Name == "__assertfail";
}

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_DEVICEFUNCTIONS_H
