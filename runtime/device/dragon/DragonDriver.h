//===- DragonDriver.h - DRAGON's nvidia-uvm, by its ioctls ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver of "DRAGON: Breaking GPU Memory Capacity Limits with Direct NVM
// Access" (Markthub et al., SC'18) is nvidia-uvm with a patch that puts files
// under ranges of managed memory: on page faults it reads them through the page
// cache, what is evicted it writes there. It is asked by ioctls on a descriptor
// that libcuda has opened, which is looked for in /proc/self/fd.
//
// Newer versions of libcuda open /dev/nvidia-uvm twice, and only one of the two
// has the address space (the other refuses all that is about ranges). So each
// is asked whether it knows a range that is known to exist.
//
// Every status is looked at: the kernel's (errno) and the driver's, which comes
// back in the structure while ioctl() returns 0.
//
// Threads: all calls from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DRAGON_DRAGONDRIVER_H
#define DRAGON_RUNTIME_DEVICE_DRAGON_DRAGONDRIVER_H

#include "runtime/base/Settings.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/device/dragon/SystemCalls.h"
#include "runtime/device/dragon/UvmAbi.h"

namespace dragon {

class DragonDriver {
public:
  explicit DragonDriver(SystemCalls &calls) : Calls(calls) {}

  /// Finds the descriptor that knows `range`, one of managed memory, and sets
  /// the driver up. UNSUPPORTED: it is not DRAGON's.
  Status open(const AddressRange &range, const Settings &settings);
  /// Puts the file under the managed range that begins at its address. The
  /// driver keeps the file open until the range is freed.
  Status map(const DriverFile &file);
  /// Other flags for it; the driver drops what D_VOLATILE ranges hold.
  Status remap(uintptr_t base, unsigned flags);

  int descriptor() const { return Fd; }

private:
  Status find(const AddressRange &range);
  Status initialise(const Settings &settings);
  /// Calls the driver and looks at both results; what fails is `doing`.
  /// `error`: errno, if the kernel has refused.
  template <typename Argument>
  Status call(uvm::Request request, Argument &argument, const char *name,
              const std::string &doing, int *error = nullptr);

  SystemCalls &Calls;
  int Fd = -1;
  Readahead Ahead = Readahead::Normal;
};

/// "NV_ERR_NO_MEMORY", or the number.
std::string nameOfNvStatus(uint32_t status);

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DRAGON_DRAGONDRIVER_H
