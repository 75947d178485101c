//===- DevicePrintf.h - printf as kernels call it -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEPRINTF_H
#define DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEPRINTF_H

#include <string>

namespace dragon {

/// Formats as CUDA's vprintf does: arguments lie in memory one after the other,
/// each at its natural alignment, promoted as C promotes variadic ones.
/// Example: "%d %f" takes 4 bytes at 0 and 8 bytes at 8. Returns the number of
/// arguments used, as CUDA's printf does, or -1 if the format is null.
int formatDevicePrintf(std::string &out, const char *format,
                       const void *arguments);

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEPRINTF_H
