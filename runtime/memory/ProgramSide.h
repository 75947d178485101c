//===- ProgramSide.h - host memory of the program in a copy ----- -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PROGRAMSIDE_H
#define DRAGON_RUNTIME_MEMORY_PROGRAMSIDE_H

#include "runtime/memory/Transfers.h"

#include <optional>
#include <utility>

namespace dragon {

/// The program's end of a copy of which the processor makes a part.
class ProgramSide {
public:
  ProgramSide(Device &device, const void *memory, Queue queue, HostSide side)
      : Dev(device), Memory(memory), InQueue(queue),
        Waited(!side.mayBePinned || !device.caps().asynchronous) {
    if (side.pageable && !side.mayBePinned)
      Known = true;
  }

  /// The processor can touch it. If not, the device has to copy. The driver is
  /// asked once, and only where the processor would copy.
  bool reachable() {
    if (!Known)
      Known = Dev.hostReaches(Memory);
    return *Known;
  }
  /// The processor is about to touch it, and work in front of the copy in the
  /// queue may touch it as well: that is done then.
  Status waitForQueue() {
    return std::exchange(Waited, true) ? Status() : Dev.synchronize(InQueue);
  }

private:
  Device &Dev;
  const void *const Memory;
  const Queue InQueue;
  bool Waited;
  std::optional<bool> Known;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PROGRAMSIDE_H
