//===- DriverEntryPoints.h - the driver API by name -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LIBRARIES_DRIVERENTRYPOINTS_H
#define DRAGON_RUNTIME_CUDART_LIBRARIES_DRIVERENTRYPOINTS_H

namespace dragon {

/// The program can start work on the device that we do not see.
bool buffersStayResident();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LIBRARIES_DRIVERENTRYPOINTS_H
