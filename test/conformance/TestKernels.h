//===- TestKernels.h - the same small kernels for every back end -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels in the form each back end takes: lowered entries for the host
// processor, PTX and its slice clones for a GPU.
//
//   increment(uint32_t *p, uint32_t n, uint32_t by)   p[i] += by for i < n
//   stamp(uint32_t *p)   p[block] = gridDim.x * 65536 + gridDim.y * 256
//                                   + blockDim.x, over x and y
//   spin(uint64_t ns)    runs that long
//   sum(const uint4 *p, uint32_t n, uint32_t *out)    reads all of p
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_CONFORMANCE_TESTKERNELS_H
#define DRAGON_TEST_CONFORMANCE_TESTKERNELS_H

#include "runtime/device/Device.h"

#include <initializer_list>
#include <memory>

namespace dragon {

struct TestKernels {
  KernelHandle increment, stamp, spin, sum;

  /// `device` is a cpu or vmm device, or a decorator of one.
  static StatusOr<std::unique_ptr<TestKernels>> create(Device &device);
};

/// A launch of the whole grid with the arguments' addresses; the box and what
/// is touched may be changed before it is given to the device.
struct TestLaunch {
  TestLaunch(KernelHandle &kernel, std::initializer_list<uint32_t> grid,
             uint32_t threads, std::initializer_list<void *> arguments);
  LaunchRequest request{};

private:
  void *Arguments[8];
};

} // namespace dragon

#endif // DRAGON_TEST_CONFORMANCE_TESTKERNELS_H
