//===- DeviceUnitsReader.cpp - relocatable device code in objects ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "tools/dragon-device-link/DeviceUnits.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

DRAGON_READER("device-units") {
  const int fd = ::memfd_create("object", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, data, bytes) != ssize_t(bytes))
    __builtin_trap();
  auto Code =
      dragon::devicelink::readDeviceCode("/proc/self/fd/" + std::to_string(fd));
  ::close(fd);
  if (!Code)
    llvm::consumeError(Code.takeError());
}
