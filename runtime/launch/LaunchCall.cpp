//===- LaunchCall.cpp - a kernel launch as the program asked for it -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchCall.h"

#include <algorithm>

namespace dragon {

uint64_t mixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

const char *nameOf(const LaunchCall &call) {
  const char *name = call.kernel->handle.image.name;
  return name ? name : "?";
}

LaunchRequest requestOf(const LaunchCall &call, const BlockBox &box) {
  LaunchRequest request{};
  request.kernel = const_cast<KernelHandle *>(&call.kernel->handle);
  request.kernelName = nameOf(call);
  std::copy(call.grid, call.grid + 3, request.grid);
  std::copy(call.block, call.block + 3, request.block);
  request.box = box;
  request.dynamicSharedBytes = call.dynamicSharedBytes;
  request.args = call.args;
  request.numArgs = call.numArgs;
  request.cooperative = call.cooperative;
  request.queue = call.queue;
  return request;
}

uint64_t shapeOf(const LaunchCall &call) {
  uint64_t hash = mixBits(reinterpret_cast<uintptr_t>(call.kernel));
  for (unsigned i = 0; i < 3; ++i)
    hash = mixBits(mixBits(hash ^ call.grid[i]) ^ call.block[i]);
  return mixBits(hash ^ call.dynamicSharedBytes);
}

} // namespace dragon
