//===- GraphMemory.cpp - what graphs allocate -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/memory/GraphMemory.h"

#include "runtime/cudart/memory/Memory.h"

#include <mutex>
#include <unordered_map>

namespace dragon {

namespace {

/// Memory that graphs allocate, at one address for all launches.
struct GraphMemory {
  bool kept = true;       ///< a node has it
  bool allocated = false; ///< launched, and not freed since
};

std::mutex memoryLock;
std::unordered_map<const void *, GraphMemory> &graphMemory() {
  static auto *table = new std::unordered_map<const void *, GraphMemory>;
  return *table;
}

/// The last node that had it is gone. What a launch has allocated stays until
/// the program frees it.
void dropGraphMemory(Front &front, void *pointer) {
  {
    std::lock_guard<std::mutex> guard(memoryLock);
    auto it = graphMemory().find(pointer);
    if (it == graphMemory().end())
      return;
    it->second.kept = false;
    if (it->second.allocated)
      return;
  }
  freeForProgram(front, pointer);
}

} // namespace

Result allocWork(Front &front, const cudaMemAllocNodeParams &params,
                 AllocWork &work) {
  void *pointer = nullptr;
  DRAGON_CHECK(allocateForProgram(front, &pointer, params.bytesize, {}));
  work.params = params;
  work.params.dptr = pointer;
  std::lock_guard<std::mutex> guard(memoryLock);
  graphMemory()[pointer] = {};
  work.memory = std::shared_ptr<void>(
      pointer, [&front](void *memory) { dropGraphMemory(front, memory); });
  return cudaSuccess;
}

bool freedForGraph(const void *pointer) {
  std::lock_guard<std::mutex> guard(memoryLock);
  auto it = graphMemory().find(pointer);
  if (it == graphMemory().end())
    return false;
  it->second.allocated = false;
  if (it->second.kept)
    return true;
  graphMemory().erase(it);
  return false;
}

void forgetGraphMemory() {
  std::lock_guard<std::mutex> guard(memoryLock);
  graphMemory().clear();
}

/// What nodes that allocate and free do when they are launched.
Result allocateOrFree(Front &front, const GraphWork &work) {
  const auto *alloc = std::get_if<AllocWork>(&work);
  const auto *free = std::get_if<FreeWork>(&work);
  if (!alloc && !free)
    return cudaSuccess;
  {
    std::lock_guard<std::mutex> guard(memoryLock);
    auto it = graphMemory().find(alloc ? alloc->params.dptr : free->pointer);
    if (it == graphMemory().end())
      return cudaSuccess;
    if (alloc) {
      it->second.allocated = true;
      return cudaSuccess;
    }
  }
  return freeForProgram(front, free->pointer);
}

} // namespace dragon
