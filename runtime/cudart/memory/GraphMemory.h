//===- GraphMemory.h - what graphs allocate ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A node that allocates has its memory from when it is made, at one address for
// all launches and all copies of the graph. The program may free it between two
// launches; it is given back when neither a node nor the program has it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MEMORY_GRAPHMEMORY_H
#define DRAGON_RUNTIME_CUDART_MEMORY_GRAPHMEMORY_H

#include "runtime/cudart/capture/Graph.h"

namespace dragon {

/// Memory for as long as the node or a copy of it is there, and until the
/// program frees what a launch has allocated.
Result allocWork(Front &front, const cudaMemAllocNodeParams &params,
                 AllocWork &work);
/// The program frees memory. True: it is a graph's, and stays for its next
/// launch.
bool freedForGraph(const void *pointer);
/// All of the program's memory is gone.
void forgetGraphMemory();
/// A launch comes to a node that allocates or frees; nothing is done for
/// others.
Result allocateOrFree(Front &front, const GraphWork &work);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_MEMORY_GRAPHMEMORY_H
