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

std::vector<BlockBox> equalBoxes(const LaunchCall &call, size_t axis,
                                 uint32_t number) {
  const uint64_t blocks = call.grid[axis];
  std::vector<BlockBox> boxes(number, wholeGrid(call));
  for (uint32_t i = 0; i < number; ++i) {
    boxes[i].Lo[axis] = uint32_t(blocks * i / number);
    boxes[i].Hi[axis] = uint32_t(blocks * (i + 1) / number);
  }
  return boxes;
}

std::vector<BlockBox> equalBoxes(const LaunchCall &call, uint32_t most) {
  const auto longest = size_t(std::ranges::max_element(call.grid) -
                              std::ranges::begin(call.grid));
  return equalBoxes(call, longest, std::min(most, call.grid[longest]));
}

} // namespace dragon
