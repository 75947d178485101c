//===- DeviceFunctions.h - keeps what kernels call -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEFUNCTIONS_H
#define DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEFUNCTIONS_H

namespace dragon {

/// Does nothing. Nothing in the runtime calls the dragon_cpu_* functions, only
/// kernels do; a reference to this keeps them when archives become libdragonrt.
void keepDeviceFunctions();

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEFUNCTIONS_H
