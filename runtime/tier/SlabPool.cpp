//===- SlabPool.cpp - physical memory under a budget ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/SlabPool.h"

#include "runtime/trace/Bytes.h"

#include <algorithm>

namespace dragon {

SlabPool::~SlabPool() { trim(); }

bool SlabPool::destroyOneIdle() {
  for (auto &[kind, slabs] : Kept)
    if (!slabs.empty()) {
      Physical slab = slabs.back();
      slabs.pop_back();
      Idle -= slab.bytes;
      DestroySlab(slab).ignore(); // it is out of the books either way
      return true;
    }
  return false;
}

StatusOr<Physical> SlabPool::take(size_t bytes, uint64_t keepFree,
                                  Place place) {
  std::lock_guard guard(Lock);
  if (Used + bytes + keepFree > Budget)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "{} memory: {} of {} in use, {} more needed", Name,
                         formatBytes(Used), formatBytes(Budget),
                         formatBytes(bytes));
  auto kept = Kept.find({bytes, place});
  if (kept != Kept.end() && !kept->second.empty()) {
    Physical slab = kept->second.back();
    kept->second.pop_back();
    Idle -= bytes;
    Used += bytes;
    return slab;
  }
  while (Used + Idle + bytes > Budget && destroyOneIdle()) {
  }
  auto slab = CreateSlab(bytes, place);
  while (!slab.ok() && destroyOneIdle())
    slab = CreateSlab(bytes, place);
  if (slab.ok()) {
    Used += bytes;
    Most = std::max(Most, Used + Idle);
  }
  return slab;
}

void SlabPool::give(const Physical &slab) {
  std::lock_guard guard(Lock);
  Used -= slab.bytes;
  Idle += slab.bytes;
  Kept[{slab.bytes, slab.place}].push_back(slab);
}

uint64_t SlabPool::budget() const {
  std::lock_guard guard(Lock);
  return Budget;
}

void SlabPool::shrinkToUsed() {
  std::lock_guard guard(Lock);
  while (destroyOneIdle()) {
  }
  Budget = Used;
}

uint64_t SlabPool::used() const {
  std::lock_guard guard(Lock);
  return Used;
}

uint64_t SlabPool::most() const {
  std::lock_guard guard(Lock);
  return Most;
}

bool SlabPool::hasRoom(size_t bytes, uint64_t keepFree) const {
  std::lock_guard guard(Lock);
  return Used + bytes + keepFree <= Budget;
}

void SlabPool::trim() {
  std::lock_guard guard(Lock);
  while (destroyOneIdle()) {
  }
}

} // namespace dragon
