//===- LaunchKey.h - when two launches are the same -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was found out about a launch serves the next one that is the same. How
// much has to agree depends on what was found out; there are five answers, and
// nobody makes another one:
//
//   shape       kernel, grid, block, dynamic shared memory: whether the device
//               accepts the launch, and how often blocks access what
//   buffers     kernel and the buffers that its pointers point into: where in
//               the program we are, whatever numbers a loop counts
//   footprint   kernel, grid, block, whether it is cooperative, and the bytes
//               of the arguments and of the memory (IndexArrays.h) that
//               addresses depend on: its footprints and plans, and those of
//               waves that it is part of (LaunchCache.h)
//   relative    the same without the addresses: footprints relative to their
//               pointers, which FootprintCache keeps by kernel
//   contents    kernel, grid, block and the bytes of all arguments: what it
//               writes (ComputedContents.h)
//
// The first two are hashes, which may be of others once in 2^64: they choose
// among ways that are all right. The others are compared byte by byte.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LAUNCHKEY_H
#define DRAGON_RUNTIME_LAUNCH_LAUNCHKEY_H

#include "runtime/launch/ResolvedLaunch.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragon {

uint64_t shapeKey(const LaunchCall &call);
uint64_t buffersKey(const ResolvedLaunch &launch);
/// The same of a library call: the function stands for the kernel.
uint64_t buffersKey(std::string_view function,
                    const std::vector<uintptr_t> &addresses);

/// The kernel has a record, and the call all arguments of it.
std::string contentsKey(const LaunchCall &call);

/// Makes footprint keys. It remembers of each kernel which bytes of arguments
/// matter.
class FootprintKeys {
public:
  std::string of(const LaunchCall &call);
  /// Kernels may have gone away.
  void clear() { Inputs.clear(); }

private:
  /// Bytes of an argument.
  struct Bytes {
    uint32_t argument, offset, count;
  };
  const std::vector<Bytes> &inputsOf(const KernelInfo &kernel);

  std::unordered_map<const KernelRecord *, std::vector<Bytes>> Inputs;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LAUNCHKEY_H
