//===- CallPieces.cpp - how a library call is cut -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/CallPieces.h"

#include <algorithm>
#include <utility>

namespace dragon {

namespace {

/// Half of it or a little more: libraries are fast where sizes are multiples.
int64_t halfOf(int64_t piece) {
  const int64_t unit = piece > 256 ? 128 : piece > 32 ? 16 : 1;
  return (piece / 2 + unit - 1) / unit * unit;
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

bool CallPieces::isGoodEnough(const Footprint &needs) const {
  return needs.bytes + needs.slack <= needs.room / 2;
}

bool CallPieces::proposeFrom(size_t dimension) {
  for (size_t d = 0; d < Dimensions.size(); ++d)
    Dimensions[d].piece = Chosen[d];
  for (Tried = dimension; Tried < Dimensions.size(); ++Tried)
    if (Dimensions[Tried].canBeCut && Chosen[Tried] > 1) {
      Dimensions[Tried].piece = Smallest ? 1 : halfOf(Chosen[Tried]);
      return true;
    }
  return false;
}

CallPieces::Answer CallPieces::settle(bool isAsProposed) {
  for (size_t d = 0; d < Dimensions.size(); ++d)
    Dimensions[d].piece = Chosen[d];
  Settled = isAsProposed || Needs.bytes > Needs.room;
  Last = true;
  if (Needs.bytes > Needs.room)
    return Answer::Impossible;
  return isAsProposed ? Answer::Settled : Answer::Again;
}

CallPieces::Answer CallPieces::weigh(const Footprint &needs) {
  if (Last) {
    Settled = true;
    return Answer::Settled;
  }
  if (Tried == Dimensions.size()) {
    Needs = needs; // of what is chosen
    if (isGoodEnough(needs))
      return settle(true);
  } else if (const uint64_t least =
                 Best == Dimensions.size() ? Needs.bytes : BestNeeds.bytes;
             needs.bytes < least) {
    Best = Tried;
    BestNeeds = needs;
  }
  if (proposeFrom(Tried == Dimensions.size() ? 0 : Tried + 1))
    return Answer::Again;
  if (Best == Dimensions.size()) {
    // It may lie across the ends of two chunks, and so may its half.
    Smallest = !Smallest && Needs.bytes > Needs.room;
    return Smallest && proposeFrom(0) ? Answer::Again : settle(false);
  }
  if (Smallest)
    BestNeeds = Needs; // its half needs no more
  Smallest = false;
  Chosen[Best] = halfOf(Chosen[Best]);
  Needs = BestNeeds;
  Best = Dimensions.size();
  if (isGoodEnough(Needs))
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
