//===- Checks.h - checks that parts of a device share -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CHECKS_H
#define DRAGON_RUNTIME_DEVICE_CHECKS_H

#include "runtime/device/DeviceAddresses.h"

namespace dragon {

/// The place's name in messages.
const char *nameOf(Place place);

/// Whether the bytes from `va` on are some, begin and end at multiples of the
/// granularity, and do not wrap around. `call` is the name in the message.
Status checkExtent(const char *call, uintptr_t va, size_t bytes,
                   size_t granularity);

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CHECKS_H
