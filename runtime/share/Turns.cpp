//===- Turns.cpp - who may claim memory, and whose turn it is -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that work at a time, and of which each wants more than its share,
// take each other's chunks away: each moves its whole working set again and
// again. They take turns instead (HHRT, nvshare). Who has the turn gets all
// that it wants; the claims of the others wait until it yields, ends or is
// stopped, or until its turn is over and somebody asks.
//
//   total 48    A wants 32, B wants 32, C wants 8
//   shares      C gets its 8; A and B would have 20 each: both are crowded
//   A's turn    A 32, C 8, and B, which waits, keeps 8 of what it holds
//
// Who fits whole beside the one that has the turn does not wait. One program
// alone that wants more than its share disturbs nobody: no turns. The ranks of
// an MPI program wait for each other, so they have their turns together.
//
//===----------------------------------------------------------------------===//

#include "runtime/share/Division.h"
#include "runtime/share/Segment.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>

namespace dragon {

/// A turn of which nothing has been used lasts longer by that: the memory may
/// be slow in coming, and whose data have come for nothing come again.
static constexpr uint64_t MoreBeforeUse = 5'000'000'000;

/// The same for all processes of a machine.
static uint64_t nanosecondsNow() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

ShareBooks::Answer ShareBooks::answer(const ShareProgram &program,
                                      uint64_t claim) const {
  uint64_t firm = 0, stays = 0;
  bool othersFirst = false;
  for (const ShareProgram &other : programs)
    if (other.pid && &other != &program) {
      firm += other.firm();
      stays += other.stays;
      othersFirst |= other.asks() && !other.waits &&
                     (!program.asksFor || other.askedAt < program.askedAt);
    }
  if (stays + claim > total)
    return Answer::Never;
  return program.waits || othersFirst || firm + claim > total ? Answer::Later
                                                              : Answer::Now;
}

bool ShareBooks::anyAsks() const {
  return std::any_of(
      std::begin(programs), std::end(programs),
      [](const ShareProgram &one) { return one.asks() && !one.waits; });
}

const ShareProgram *ShareBooks::nextInTurn() const {
  const ShareProgram *next = nullptr;
  for (const ShareProgram &one : programs)
    if (one.asks() && one.crowded && one.gang != holder &&
        (holder == 0 || one.waits) && (!next || one.askedAt < next->askedAt))
      next = &one;
  return next;
}

bool ShareBooks::turnIsOver() const {
  uint64_t lasts = 0;
  for (const ShareProgram &one : programs)
    if (one.pid && one.gang == holder)
      lasts = std::max(lasts, one.turn);
  if (!turnUsed)
    lasts += MoreBeforeUse;
  const uint64_t now = nanosecondsNow();
  return now < turnBegan || now - turnBegan > lasts;
}

void ShareBooks::giveTurn(uint64_t gang) {
  holder = gang;
  turnUsed = 0;
  turnBegan = nanosecondsNow();
  for (ShareProgram &one : programs) {
    one.waits = one.pid && one.crowded && one.gang != holder;
    one.turns += one.pid && one.crowded && one.gang == holder;
  }
}

bool ShareBooks::passTurn(const ShareProgram &program) {
  if (!program.crowded || (holder && !turnIsOver()))
    return false;
  const ShareProgram *next = nextInTurn();
  if (!next && holder)
    return false;
  giveTurn(next ? next->gang : program.gang);
  divideAnew();
  return true;
}

void ShareBooks::useTurn(const ShareProgram &program) {
  if (program.gang != holder || turnUsed)
    return;
  turnUsed = 1;
  turnBegan = nanosecondsNow();
}

bool ShareBooks::divideAnew() {
  std::vector<ShareWish> wishes;
  std::vector<ShareProgram *> those;
  for (ShareProgram &program : programs)
    if (program.pid) {
      wishes.push_back({program.weight, program.most, program.wanted,
                        program.rests(), program.least, program.spare != 0,
                        program.firm()});
      those.push_back(&program);
    }
  findCrowd(those, divideFreely(total, wishes));
  if (holder)
    findWaiting(those, wishes);
  const std::vector<uint64_t> limits = divide(total, wishes);
  bool changed = false;
  for (size_t i = 0; i < those.size(); ++i) {
    ShareProgram &program = *those[i];
    changed |= program.limit != limits[i] ||
               program.waits != uint64_t(wishes[i].waits);
    program.limit = limits[i];
    program.waits = wishes[i].waits;
  }
  return changed;
}

void ShareBooks::findWaiting(const std::vector<ShareProgram *> &those,
                             std::vector<ShareWish> &wishes) const {
  std::vector<size_t> behind;
  uint64_t left = total;
  for (size_t i = 0; i < those.size(); ++i) {
    const ShareProgram &one = *those[i];
    wishes[i].waits = one.crowded && one.gang != holder;
    if (wishes[i].waits)
      behind.push_back(i);
    else
      left -=
          std::min(left, one.rests() || one.spare ? one.firm() : one.wish());
  }
  // Who works beside the one that has the turn goes on until that ends.
  const auto order = [&](size_t i) {
    const ShareProgram &one = *those[i];
    return std::tuple(one.waits, one.asksFor == 0,
                      one.asksFor ? one.askedAt : 0, i);
  };
  std::sort(behind.begin(), behind.end(),
            [&](size_t a, size_t b) { return order(a) < order(b); });
  for (const size_t i : behind)
    if (those[i]->wish() <= left) {
      wishes[i].waits = false;
      left -= those[i]->wish();
    }
}

void ShareBooks::findCrowd(const std::vector<ShareProgram *> &those,
                           const std::vector<uint64_t> &shares) {
  uint64_t gang = 0;
  bool several = false;
  for (size_t i = 0; i < those.size(); ++i) {
    ShareProgram &one = *those[i];
    const bool was = one.crowded;
    one.crowded =
        one.turn && !one.rests() && !one.spare && shares[i] < one.wish();
    if (!was && holder)
      one.waits = 1; // others came before
    if (!one.crowded)
      continue;
    several |= gang && one.gang != gang;
    gang = one.gang;
  }
  bool holds = false; // the one that has the turn is still among them
  for (ShareProgram *one : those) {
    one->crowded &= several;
    holds |= one->crowded && one->gang == holder;
  }
  if (holds)
    return;
  holder = 0;
  if (const ShareProgram *next = nextInTurn())
    giveTurn(next->gang);
}

} // namespace dragon
