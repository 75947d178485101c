//===- SlabPool.cpp - physical memory under a budget ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/SlabPool.h"

#include "runtime/core/ThreadPool.h"
#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <system_error>

namespace dragon {

SlabPool::~SlabPool() {
  rest();
  trim();
}

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
  std::unique_lock guard(Lock);
  while (true) {
    if (!fits(bytes, keepFree)) {
      Wanted.notify_one();
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                           "{} memory: {} of {} in use, {} more needed", Name,
                           formatBytes(Used), formatBytes(Budget),
                           formatBytes(bytes));
    }
    auto kept = Kept.find({bytes, place});
    if (kept != Kept.end() && !kept->second.empty()) {
      Physical slab = kept->second.back();
      kept->second.pop_back();
      Idle -= bytes;
      Used += bytes;
      if (shouldMake())
        Wanted.notify_one();
      return slab;
    }
    const bool over = Used + Idle + Making + bytes > Budget;
    if (over && destroyOneIdle())
      continue;
    if (!Making || (!over && (Making != bytes || place != Usual)))
      break;
    ++Waiting; // the thread makes no other one before this taker had its turn
    Made.wait(guard);
    --Waiting;
  }
  auto slab = CreateSlab(bytes, place);
  while (!slab.ok() && destroyOneIdle())
    slab = CreateSlab(bytes, place);
  if (slab.ok()) {
    Used += bytes;
    Most = std::max(Most, Used + Idle);
    if (shouldMake())
      Wanted.notify_one();
  }
  return slab;
}

void SlabPool::give(const Physical &slab) {
  std::lock_guard guard(Lock);
  Used -= slab.bytes;
  keep(slab);
}

void SlabPool::keep(const Physical &slab) {
  Idle += slab.bytes;
  Kept[{slab.bytes, slab.place}].push_back(slab);
}

// -- Made ahead --------------------------------------------------------------

bool SlabPool::shouldMake() const {
  if (!ExpectedSlab || Making || Waiting)
    return false;
  auto kept = Kept.find({ExpectedSlab, Usual});
  const uint64_t ahead =
      kept == Kept.end() ? 0 : kept->second.size() * ExpectedSlab;
  return ahead + ExpectedSlab <= std::max<uint64_t>(AheadBytes, ExpectedSlab) &&
         Used + Idle + ExpectedSlab <= std::min(Expected, Budget);
}

void SlabPool::expect(size_t bytes, uint64_t total) {
  std::lock_guard guard(Lock);
  ExpectedSlab = total ? bytes : 0;
  Expected = total;
  if (Resting || !shouldMake())
    return;
  if (!Maker.joinable()) {
    try {
      Maker = startThread([this] { makeAhead(); });
    } catch (const std::system_error &) {
      return; // takers make their own
    }
  }
  Wanted.notify_one();
}

void SlabPool::makeAhead() {
  std::unique_lock guard(Lock);
  while (true) {
    Wanted.wait(guard, [this] { return Resting || shouldMake(); });
    if (Resting)
      return;
    const size_t bytes = Making = ExpectedSlab;
    guard.unlock();
    auto slab = CreateSlab(bytes, Usual);
    guard.lock();
    Making = 0;
    if (slab.ok()) {
      keep(*slab);
      Most = std::max(Most, Used + Idle);
    } else {
      ExpectedSlab = 0; // the host has no more; takers say so
    }
    Made.notify_all();
  }
}

void SlabPool::rest() {
  std::unique_lock guard(Lock);
  ExpectedSlab = 0;
  if (!Maker.joinable())
    return;
  Resting = true;
  Wanted.notify_one();
  std::thread ending = std::move(Maker);
  guard.unlock();
  ending.join();
  guard.lock();
  Resting = false;
}

// ----------------------------------------------------------------------------

void SlabPool::lend(int64_t bytes) {
  std::lock_guard guard(Lock);
  Lent += uint64_t(bytes);
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
  return fits(bytes, keepFree);
}

void SlabPool::trim() {
  std::lock_guard guard(Lock);
  while (destroyOneIdle()) {
  }
}

} // namespace dragon
