//===- CallPieces.cpp - how a library call is cut -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/CallPieces.h"
#include "runtime/base/Rounding.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dragon {

namespace {

/// Half of it or a little more: libraries are fast where sizes are multiples.
int64_t halfOf(int64_t piece) {
  const int64_t unit = piece > 256 ? 128 : piece > 32 ? 16 : 1;
  return roundUp(piece / 2, unit);
}

} // namespace

CallPieces::CallPieces(std::vector<Dimension> dimensions)
    : Dimensions(std::move(dimensions)), Tried(Dimensions.size()),
      Best(Dimensions.size()) {
  for (Dimension &one : Dimensions) {
    one.piece = one.count;
    Chosen.push_back(one.count);
  }
}

int64_t CallPieces::begin(size_t dimension) const {
  const Dimension &one = Dimensions[dimension];
  return one.at * one.piece;
}

int64_t CallPieces::count(size_t dimension) const {
  const Dimension &one = Dimensions[dimension];
  return std::min(one.piece, one.count - begin(dimension));
}

bool CallPieces::proposeFrom(size_t dimension) {
  for (Tried = dimension; Tried < Dimensions.size(); ++Tried)
    if (Dimensions[Tried].canBeCut && Chosen[Tried] > 1) {
      proposeChosen();
      Dimensions[Tried].piece = Smallest ? 1 : halfOf(Chosen[Tried]);
      return true;
    }
  return false;
}

void CallPieces::proposeChosen() {
  for (size_t d = 0; d < Dimensions.size(); ++d)
    Dimensions[d].piece = Chosen[d];
}

CallPieces::Answer CallPieces::weigh(const Footprint &needs) {
  switch (Now) {
  case State::Whole:
    Uses = needs.uses;
    Needs = needs.bytes;
    Room = needs.room;
    if (Needs <= Room)
      return settle(true);
    Shrinks.assign(Dimensions.size(), std::vector<char>(needs.uses.size()));
    Now = State::Halves;
    return proposeFrom(0) ? Answer::Again : settle(true);
  case State::Halves:
    for (size_t u = 0; u < std::min(needs.uses.size(), Uses.size()); ++u)
      Shrinks[Tried][u] = needs.uses[u].bytes <= Uses[u].bytes / 4 * 3;
    return proposeFrom(Tried + 1) ? Answer::Again : choose();
  case State::Checked:
    Needs = needs.bytes;
    if (Needs <= Room)
      return settle(true);
    Now = State::Shrinking;
    return proposeFrom(0) ? Answer::Again : settle(true);
  case State::Shrinking:
    return shrink(needs);
  case State::Last:
    break;
  }
  Settled = true;
  return Answer::Settled;
}

// -- The piece by which the least is moved ------------------------------------

/// What a piece costs beside what it moves: a call, and chunks that are mapped.
static constexpr double PieceCost = 4 << 20;

std::optional<double>
CallPieces::costOf(const std::vector<int64_t> &pieces) const {
  const size_t none = Dimensions.size();
  std::vector<double> upTo; // pieces that dimensions up to each make
  size_t innermost = none;  // that is cut
  for (size_t d = 0; d < none; ++d) {
    const int64_t count = Dimensions[d].count, piece = pieces[d];
    const int64_t number = piece > 0 ? (count + piece - 1) / piece : 1;
    upTo.push_back((d ? upTo.back() : 1) * double(number));
    if (number > 1)
      innermost = d;
  }
  if (innermost == none)
    return std::nullopt;
  // What adds up is read again.
  const bool adds = Dimensions[innermost].addsUp;
  double needed = 0, cost = upTo.back() * PieceCost * (adds ? 2 : 1);
  for (size_t u = 0; u < Uses.size(); ++u) {
    const Use &use = Uses[u];
    double bytes = double(use.bytes), times = 1;
    bool isCut = false, changes = false;
    for (size_t d = 0; d < none; ++d)
      if (Shrinks[d][u] && pieces[d] < Dimensions[d].count) {
        bytes *= double(pieces[d]) / double(Dimensions[d].count);
        times = upTo[d];
        isCut = true;
        changes = d == innermost;
      }
    const auto chunk = double(use.chunk);
    bytes = std::max(bytes, chunk);
    // Chunks at both ends are others' as well.
    needed += (isCut ? bytes + chunk : bytes) * (changes ? 2 : 1);
    cost += bytes * times * (use.written ? 2 : 1);
  }
  if (needed > double(Room))
    return std::nullopt;
  return cost;
}

void CallPieces::tryFrom(size_t dimension, std::vector<int64_t> &pieces,
                         double &least) {
  if (dimension == Dimensions.size()) {
    if (const auto cost = costOf(pieces); cost && *cost < least) {
      least = *cost;
      Chosen = pieces;
    }
    return;
  }
  const Dimension &one = Dimensions[dimension];
  const std::vector<char> &shrinks = Shrinks[dimension];
  const bool helps = one.canBeCut && std::find(shrinks.begin(), shrinks.end(),
                                               1) != shrinks.end();
  for (int64_t piece = one.count;; piece = halfOf(piece)) {
    pieces[dimension] = piece;
    tryFrom(dimension + 1, pieces, least);
    if (!helps || piece <= 1)
      return;
  }
}

CallPieces::Answer CallPieces::choose() {
  double least = std::numeric_limits<double>::infinity();
  std::vector<int64_t> pieces(Dimensions.size());
  tryFrom(0, pieces, least);
  proposeChosen();
  Now = State::Checked;
  return Answer::Again;
}

// -- A smaller one ------------------------------------------------------------

CallPieces::Answer CallPieces::settle(bool isAsProposed) {
  proposeChosen();
  Now = State::Last;
  Settled = isAsProposed || Needs > Room;
  if (Needs > Room)
    return Answer::Impossible;
  return isAsProposed ? Answer::Settled : Answer::Again;
}

bool CallPieces::halveLargest() {
  size_t largest = Dimensions.size();
  for (size_t d = 0; d < Dimensions.size(); ++d)
    if (Dimensions[d].canBeCut && Chosen[d] > 1 &&
        (largest == Dimensions.size() || Chosen[d] > Chosen[largest]))
      largest = d;
  if (largest == Dimensions.size())
    return false;
  Chosen[largest] = halfOf(Chosen[largest]);
  proposeChosen();
  Now = State::Checked;
  return true;
}

CallPieces::Answer CallPieces::shrink(const Footprint &needs) {
  if (needs.bytes < (Best == Dimensions.size() ? Needs : BestNeeds)) {
    Best = Tried;
    BestNeeds = needs.bytes;
  }
  if (proposeFrom(Tried + 1))
    return Answer::Again;
  if (Best == Dimensions.size()) {
    // It may lie across the ends of two chunks, and so may its half.
    Smallest = !Smallest && Needs > Room;
    if (Smallest && proposeFrom(0))
      return Answer::Again;
    return Needs > Room && halveLargest() ? Answer::Again : settle(false);
  }
  // Of one step it is known, not of the half.
  if (!Smallest)
    Needs = BestNeeds;
  Smallest = false;
  Chosen[Best] = halfOf(Chosen[Best]);
  Best = Dimensions.size();
  if (Needs <= Room)
    return settle(false);
  return proposeFrom(0) ? Answer::Again : settle(false);
}

bool CallPieces::advance() {
  for (size_t d = Dimensions.size(); d-- > 0;) {
    Dimension &one = Dimensions[d];
    const int64_t next = one.at + (one.upwards ? 1 : -1);
    if (next >= 0 && next * one.piece < one.count) {
      one.at = next;
      return true;
    }
    if (one.addsUp)
      one.at = 0;
    else
      one.upwards = !one.upwards;
  }
  return false;
}

} // namespace dragon
