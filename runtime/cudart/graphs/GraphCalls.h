//===- GraphCalls.h - what the calls on graphs share ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H
#define DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/modules/NvidiaOrOwn.h"

#include <algorithm>

namespace dragon {

/// A call that is NVIDIA's on a GPU, where `memory` has to be there meanwhile.
template <typename Nvidia, typename Own>
cudaError_t onEitherThere(std::initializer_list<MemoryPart> memory,
                          Nvidia &&nvidia, Own &&own) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return own(front);
    DRAGON_CHECK(modules().initialise(front));
    return whileThere(front, memory, nvidia);
  });
}
#define DRAGON_EITHER_THERE(memory, name, args, ...)                           \
  onEitherThere(                                                               \
      {DRAGON_UNPACK memory},                                                  \
      [&] { return DRAGON_NVIDIA(name, DRAGON_UNPACK args); },                 \
      [&]([[maybe_unused]] Front & front)->Result __VA_ARGS__)

/// What the driver looks at of a copy's side, and of a fill.
inline MemoryPart sideOf(const cudaPitchedPtr &memory,
                         const cudaExtent &extent) {
  return {memory.ptr, memory.pitch * std::max<size_t>(memory.ysize, 1) *
                          std::max<size_t>(extent.depth, 1)};
}
inline MemoryPart partOf(const cudaMemsetParams &set) {
  return {set.dst, set.height > 1 ? set.pitch * set.height
                                  : set.width * set.elementSize};
}

/// The device address of a part of a symbol.
Result symbolAddress(const void *symbol, size_t offset, size_t bytes,
                     char *&address);

/// The parameters of a node of any type, which is of this one.
inline cudaKernelNodeParams kernelParams(const cudaGraphNodeParams &params) {
  const cudaKernelNodeParamsV2 &k = params.kernel;
  return {k.func,           k.gridDim,      k.blockDim,
          k.sharedMemBytes, k.kernelParams, k.extra};
}
inline cudaMemsetParams setParams(const cudaGraphNodeParams &params) {
  const cudaMemsetParamsV2 &m = params.memset;
  return {m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
}

/// Other work of the same kind for a node.
Result setWork(GraphNode *node, GraphWork work);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_GRAPHS_GRAPHCALLS_H
