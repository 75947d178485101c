//===- SlabPool.cpp - physical memory under a budget ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/SlabPool.h"

#include "runtime/base/ThreadPool.h"
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
      noteSum();
      return true;
    }
  return false;
}

void SlabPool::noteSum() {
  Most = std::max(Most.load(), Used + Idle + Coming);
  if (Traced)
    traceHeld(*Traced, sum());
}

size_t SlabPool::numKept(size_t bytes, Place place) const {
  auto kept = Kept.find({bytes, place});
  return kept == Kept.end() ? 0 : kept->second.size();
}

size_t SlabPool::numBeingMade(size_t bytes, Place place) const {
  return place == Usual
             ? size_t(std::count(SizesComing.begin(), SizesComing.end(), bytes))
             : 0;
}

StatusOr<Physical> SlabPool::take(size_t bytes, uint64_t keepFree,
                                  Place place) {
  std::unique_lock guard(Lock);
  while (true) {
    if (!fits(bytes, keepFree)) {
      Wanted.notify_all();
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                           "{} memory: {} of {} in use, {} more needed", Name,
                           formatBytes(Used), formatBytes(Budget),
                           formatBytes(bytes));
    }
    const bool over = Used + Idle + Coming + bytes > Budget;
    if (auto slab = takeKept(bytes, place, over)) {
      if (shouldMake())
        Wanted.notify_one();
      return *slab;
    }
    if (over && (destroyOneIdle() || reclaim(guard)))
      continue;
    if (numBeingMade(bytes, place) > Waiting) {
      ++Waiting;
      Made.wait(guard);
      --Waiting;
    } else if (over && Coming) {
      ++Pausing; // no thread makes another one before this taker had its turn
      Made.wait(guard);
      --Pausing;
    } else {
      return create(guard, bytes, place);
    }
  }
}

std::optional<Physical> SlabPool::takeKept(size_t bytes, Place place,
                                           bool other) {
  // What can be mapped is pinned, too.
  if (!numKept(bytes, place) && other && place == Place::Pinned)
    place = Place::Host;
  if (!numKept(bytes, place))
    return std::nullopt;
  std::vector<Physical> &kept = Kept[{bytes, place}];
  const Physical slab = kept.back();
  kept.pop_back();
  Idle -= bytes;
  Used += bytes;
  return slab;
}

StatusOr<Physical> SlabPool::create(std::unique_lock<std::mutex> &guard,
                                    size_t bytes, Place place) {
  Used += bytes; // nobody else takes the room
  noteSum();
  if (shouldMake())
    Wanted.notify_one();
  while (true) {
    guard.unlock();
    auto slab = CreateSlab(bytes, place);
    guard.lock();
    if (slab.ok())
      return slab;
    if (auto kept = takeKept(bytes, place, true)) {
      Used -= bytes;
      noteSum();
      return *kept;
    }
    if (destroyOneIdle() || reclaim(guard))
      continue;
    Used -= bytes;
    noteSum();
    return slab;
  }
}

void SlabPool::give(const Physical &slab) {
  std::lock_guard guard(Lock);
  Used -= slab.bytes;
  keep(slab);
}

void SlabPool::keep(const Physical &slab) {
  if (Used + Idle + Coming + slab.bytes > Budget) {
    DestroySlab(slab).ignore(); // it is out of the books either way
    noteSum();
    return;
  }
  Idle += slab.bytes;
  Kept[{slab.bytes, slab.place}].push_back(slab);
}

void SlabPool::park(const Physical &slab, bool parked) {
  std::lock_guard guard(Lock);
  Used += parked ? -slab.bytes : slab.bytes;
  Idle += parked ? slab.bytes : -slab.bytes;
}

void SlabPool::giveParked(const Physical &slab) {
  std::lock_guard guard(Lock);
  Idle -= slab.bytes;
  keep(slab);
}

bool SlabPool::reclaim(std::unique_lock<std::mutex> &guard) {
  if (!Reclaim)
    return false;
  guard.unlock();
  const bool some = Reclaim();
  guard.lock();
  return some;
}

// -- Made ahead --------------------------------------------------------------

bool SlabPool::shouldMake() const {
  if (!ExpectedSlab || Pausing || SizesComing.size() >= MostMakers)
    return false;
  const uint64_t ahead =
      (numKept(ExpectedSlab, Usual) + numBeingMade(ExpectedSlab, Usual)) *
      ExpectedSlab;
  return ahead + ExpectedSlab <=
             std::min(MostAhead, std::max({Ahead.bytes, Used, ExpectedSlab})) &&
         Used + Idle + Coming + ExpectedSlab <= std::min(Expected, Budget);
}

void SlabPool::expect(size_t bytes, uint64_t total, unsigned threads,
                      uint64_t ahead) {
  std::lock_guard guard(Lock);
  ExpectedSlab = total ? bytes : 0;
  Expected = total;
  MostMakers = std::min(threads, Ahead.threads);
  MostAhead = ahead;
  if (Resting || !shouldMake())
    return;
  Wanted.notify_all();
  try {
    while (Makers.size() < Ahead.threads)
      Makers.push_back(startThread([this] { makeAhead(); }));
  } catch (const std::system_error &) {
    return; // those that there are do it, and takers make their own
  }
}

void SlabPool::makeAhead() {
  std::unique_lock guard(Lock);
  while (true) {
    Wanted.wait(guard, [this] { return Resting || shouldMake(); });
    if (Resting)
      return;
    const size_t bytes = ExpectedSlab;
    SizesComing.push_back(bytes);
    Coming += bytes;
    noteSum();
    if (shouldMake())
      Wanted.notify_one();
    guard.unlock();
    auto slab = CreateSlab(bytes, Usual);
    guard.lock();
    Coming -= bytes;
    SizesComing.erase(std::find(SizesComing.begin(), SizesComing.end(), bytes));
    if (slab.ok())
      keep(*slab);
    else
      ExpectedSlab = 0; // the host has no more; takers say so
    noteSum();
    Made.notify_all();
  }
}

void SlabPool::rest() {
  std::unique_lock guard(Lock);
  ExpectedSlab = 0;
  if (Makers.empty())
    return;
  Resting = true;
  Wanted.notify_all();
  std::vector<std::thread> ending = std::move(Makers);
  Makers.clear();
  guard.unlock();
  for (std::thread &maker : ending)
    maker.join();
  guard.lock();
  Resting = false;
}

// ----------------------------------------------------------------------------

void SlabPool::setAside(const Physical &slab, bool aside) {
  std::lock_guard guard(Lock);
  if (aside) {
    Used -= slab.bytes;
    Budget -= std::min(Budget, slab.bytes);
    Aside += slab.bytes;
  } else {
    Used += slab.bytes;
    Budget += slab.bytes;
    Aside -= slab.bytes;
  }
}

bool SlabPool::charge(int64_t bytes, uint64_t keepFree) {
  std::lock_guard guard(Lock);
  if (bytes > 0 && !fits(size_t(bytes), keepFree))
    return false;
  Used += uint64_t(bytes);
  noteSum();
  return true;
}

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

void SlabPool::setBudget(uint64_t bytes) {
  std::lock_guard guard(Lock);
  Budget = bytes;
}

void SlabPool::setLimit(uint64_t bytes) {
  std::lock_guard guard(Lock);
  Budget = bytes - std::min(bytes, Aside);
}

uint64_t SlabPool::held() const {
  std::lock_guard guard(Lock);
  return sum();
}

uint64_t SlabPool::used() const {
  std::lock_guard guard(Lock);
  return Used;
}

uint64_t SlabPool::aside() const {
  std::lock_guard guard(Lock);
  return Aside;
}

uint64_t SlabPool::most() const { return Most; }

bool SlabPool::hasRoom(size_t bytes, uint64_t keepFree) const {
  std::lock_guard guard(Lock);
  return fits(bytes, keepFree);
}

uint64_t SlabPool::missing(size_t bytes, uint64_t keepFree) const {
  std::lock_guard guard(Lock);
  const uint64_t needed =
      Used + bytes + (keepFree > Lent ? keepFree - Lent : 0);
  return needed > Budget ? needed - Budget : 0;
}

uint64_t SlabPool::ready(size_t bytes) const {
  std::lock_guard guard(Lock);
  return numKept(bytes, Usual) * uint64_t(bytes);
}

void SlabPool::trim() {
  std::lock_guard guard(Lock);
  while (destroyOneIdle()) {
  }
}

} // namespace dragon
