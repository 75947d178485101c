//===- Devices.h - what the device says of itself ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_DEVICES_DEVICES_H
#define DRAGON_RUNTIME_CUDART_DEVICES_DEVICES_H

#include "runtime/cudart/front/Front.h"

#include <driver_types.h>

namespace dragon {

/// The cpu device's properties: CUDA's limits for the compiled architecture,
/// as far as programs size their work by them.
cudaDeviceProp cpuDeviceProperties(Front &front);

/// One attribute out of the properties. False if there is none of that number.
bool attributeOf(const cudaDeviceProp &properties, cudaDeviceAttr attribute,
                 int &value);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_DEVICES_DEVICES_H
