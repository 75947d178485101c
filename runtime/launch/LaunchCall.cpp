//===- LaunchCall.cpp - a kernel launch as the program asked for it -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchCall.h"

#include <algorithm>

namespace dragon {

const char *nameOf(const LaunchCall &call) {
  if (!call.kernel->name.empty())
    return call.kernel->name.c_str();
  const char *symbol = call.kernel->handle.image.name;
  return symbol ? symbol : "?";
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
  if (const KernelRecord *record = call.kernel->record)
    request.argSizes = call.kernel->summary->argSizes(*record);
  request.cooperative = call.cooperative;
  request.queue = call.queue;
  return request;
}

} // namespace dragon
