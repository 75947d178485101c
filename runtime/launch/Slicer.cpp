//===- Slicer.cpp - cutting a grid into boxes -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Slicer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace dragon {

namespace {

constexpr size_t MaxSlices = 1 << 16;

/// Once two boxes in a row had one length, twice as many as had it are foreseen
/// to have it, so many at most.
constexpr uint32_t MaxForeseen = 64;

/// Once a box was as its two predecessors let expect, twice as many are
/// foreseen, so many at most.
constexpr uint32_t MaxExpected = 1024;

/// So often the length of a box is sought by proportion.
constexpr unsigned MaxGuesses = 4;

/// A box is long enough when it takes this share of what it may: finding the
/// longest one takes several times as many footprints to evaluate. Not where
/// a single layer takes much: what chunks a layer has, the next ones may share.
bool isLongEnough(uint64_t bytes, uint64_t limit, uint64_t layer) {
  return layer <= limit / 8 && bytes >= limit - limit / 8;
}

} // namespace

void Drift::expect(uint32_t lo, uint32_t hi,
                   const std::vector<BufferShape> &shapes,
                   ChunkSet &set) const {
  set.clear();
  const Box &a = Boxes[0], &b = Boxes[1];
  for (size_t i = 0; i < a.extents.size(); ++i) {
    const ByteInterval &x = a.extents[i], &y = b.extents[i];
    const BufferShape &shape = shapes[x.buffer];
    const double most = double(shape.bytes);
    const auto begin = uint64_t(std::clamp(
        along(double(x.begin), double(y.begin), a.lo, b.lo, lo), 0.0, most));
    const auto end = uint64_t(std::clamp(
        along(double(x.end), double(y.end), a.hi, b.hi, hi), 0.0, most));
    if (begin < end)
      set.push_back(
          {x.buffer, uint32_t(begin / shape.chunkBytes),
           uint32_t((end + shape.chunkBytes - 1) / shape.chunkBytes)});
  }
  normalize(set);
}

/// The next boxes, if they are as long as `width`; and where no more must fit,
/// one more.
void Slicer::foresee(BlockBox box, unsigned dimension, uint32_t width,
                     bool exactly) {
  const uint64_t end = box.Hi[dimension];
  std::vector<BlockBox> boxes;
  uint64_t at = box.Lo[dimension];
  for (uint32_t left = std::min(2 * Alike, MaxForeseen); at < end && left--;
       at += width) {
    box.Lo[dimension] = uint32_t(at);
    for (uint64_t hi = at + width; hi <= at + width + exactly; ++hi) {
      box.Hi[dimension] = uint32_t(std::min(end, hi));
      boxes.push_back(box);
    }
  }
  Foreseen = uint32_t(std::min(end, at));
  Input.foresee(boxes);
}

uint32_t Slicer::expectedEnd(uint32_t lo, uint32_t end, uint64_t limit) {
  uint32_t good = lo, bad = end + 1;
  // By doubling steps first: boxes are short beside the grid.
  for (uint64_t step = 1; bad - good > 1;) {
    const uint32_t next = bad > end
                              ? uint32_t(std::min<uint64_t>(end, good + step))
                              : good + (bad - good) / 2;
    Boxwise.expect(lo, next, Input.buffers, Guess);
    if (bytesOf(Guess, Input.buffers) <= limit)
      good = next, step *= 2;
    else
      bad = next;
    if (good == end)
      break;
  }
  return good;
}

uint32_t Slicer::asExpected(BlockBox box, unsigned dimension, uint64_t limit,
                            uint64_t &found, uint32_t &expected) {
  const uint32_t lo = box.Lo[dimension], end = box.Hi[dimension];
  if (!Boxwise.isKnown())
    return 0;
  if (Input.foresee && Expected && lo >= Foreseen) {
    std::vector<BlockBox> boxes;
    BlockBox next = box;
    uint32_t at = lo;
    for (uint32_t left = std::min(2 * Expected, MaxExpected); at < end && left;
         --left) {
      const uint32_t hi = expectedEnd(at, end, limit);
      if (hi == at)
        break;
      next.Lo[dimension] = at;
      next.Hi[dimension] = at = hi;
      boxes.push_back(next);
    }
    Foreseen = at;
    Input.foresee(boxes);
  }
  const uint32_t hi = expectedEnd(lo, end, limit);
  Boxwise.expect(lo, hi, Input.buffers, Guess);
  box.Hi[dimension] = hi;
  if (hi == lo || Input.footprint(box) != Guess) {
    Expected = Foreseen = 0;
    expected = hi;
    return 0;
  }
  ++Expected;
  found = bytesOf(Guess, Input.buffers);
  return hi;
}

double Slicer::step(const Search &search, uint32_t guess, unsigned turn,
                    bool wasGuessed, bool &guessing) const {
  const uint64_t layer = *Layer, limit = std::max(Limit, layer);
  const bool exactly = layer > limit / 8;
  const double wanted = double(exactly ? limit : limit - limit / 16);
  const auto [lo, end, good, bad, found, tooMuch, isMeasured] = search;
  const uint32_t width = good - lo, other = Before[Before[0] == guess];
  guessing = false;
  if (wasGuessed && exactly)
    return 1;
  if (lo + uint64_t(other) > good && lo + uint64_t(other) < bad &&
      turn < MaxGuesses) {
    guessing = true;
    return other - width;
  }
  if (turn == 0 && width == 1 && bad > end)
    return guess;
  if (turn < MaxGuesses && tooMuch > found)
    return (wanted - double(found)) * (bad - good) / double(tooMuch - found);
  if (turn < MaxGuesses && width > 1 && found > layer)
    return (wanted - double(found)) * (width - 1) / double(found - layer);
  return bad <= end ? (bad - good) / 2 : width;
}

void Slicer::search(const BlockBox &box, unsigned dimension, uint32_t guess,
                    Search &s) {
  const uint64_t layer = *Layer, limit = std::max(Limit, layer);
  if (!s.isMeasured)
    s.found = layer; // about
  if (s.tooMuch && s.tooMuch <= limit)
    s = {s.lo, s.end, s.bad, s.end + 1, s.tooMuch, 0, true};
  bool wasGuessed = s.isMeasured && s.good - s.lo == guess;
  for (unsigned turn = 0;
       s.good < s.end && s.bad - s.good > 1 &&
       !(s.isMeasured && isLongEnough(s.found, limit, layer));
       ++turn) {
    bool guessing;
    const double further = step(s, guess, turn, wasGuessed, guessing);
    wasGuessed = false;
    const auto next = uint32_t(
        s.good +
        std::clamp(further, 1.0, double(std::min(s.end, s.bad - 1) - s.good)));
    const uint64_t size = bytesTo(box, dimension, next);
    if (size <= limit) {
      s.good = next;
      s.found = size;
      s.isMeasured = true;
      wasGuessed = guessing;
    } else {
      s.bad = next;
      s.tooMuch = size;
    }
  }
  if (!s.isMeasured)
    s.found = bytesTo(box, dimension, s.good);
}

void Slicer::searchNear(const BlockBox &box, unsigned dimension, uint64_t limit,
                        uint32_t expected, Search &s) {
  uint32_t next = expected;
  for (uint32_t step = 1; next > s.lo + 1 && next < s.bad; step *= 2) {
    const uint64_t size = bytesTo(box, dimension, next);
    const bool wasBad = s.bad <= s.end, wasGood = s.isMeasured;
    if (size <= limit) {
      s.good = next;
      s.found = size;
      s.isMeasured = true;
      if (wasBad || next == s.end)
        return;
      next += std::min(step, s.end - next);
    } else {
      s.bad = next;
      s.tooMuch = size;
      if (wasGood)
        return;
      next -= std::min(step, next - s.lo);
    }
  }
}

uint32_t Slicer::longest(BlockBox box, unsigned dimension, uint32_t guess,
                         uint64_t &found) {
  const uint32_t lo = box.Lo[dimension], end = box.Hi[dimension];
  const uint64_t most = std::max(Limit, Layer.value_or(0));
  uint32_t expected = 0;
  if (Layer && *Layer > Limit / 8)
    if (uint32_t hi = asExpected(box, dimension, most, found, expected))
      return hi;
  Search s{lo, end, lo + 1, end + 1};
  if (expected > lo + 1) {
    searchNear(box, dimension, most, expected, s);
  } else if (Layer && guess > 1) {
    // Mostly the next box is like the one before.
    const uint32_t hi = uint32_t(std::min<uint64_t>(end, uint64_t(lo) + guess));
    if (Input.foresee && Alike >= 2 && lo >= Foreseen)
      foresee(box, dimension, guess, *Layer > Limit / 8);
    const uint64_t size = bytesTo(box, dimension, hi);
    if (size <= Limit && (hi == end || isLongEnough(size, Limit, *Layer))) {
      ++Alike;
      found = size;
      return hi;
    }
    if (size <= Limit)
      s.good = hi, s.found = size, s.isMeasured = true;
    else
      s.bad = hi, s.tooMuch = size;
  }
  if (!Layer) {
    // What one layer takes, chunks being what they are, is no waste for more.
    Layer = s.found = found = bytesTo(box, dimension, lo + 1);
    s.isMeasured = true;
    if (found > Input.deviceBudget)
      return s.good;
  }
  const uint64_t limit = std::max(Limit, *Layer);
  search(box, dimension, guess, s);
  found = s.found;
  if (found > limit && found <= Input.deviceBudget) {
    // One layer, which takes more than the one that was looked at.
    Layer = found;
    return longest(box, dimension, guess, found);
  }
  if (s.good - lo == guess)
    ++Alike;
  else
    Alike = Foreseen = 0;
  if (s.good - lo != Before[0])
    Before = {s.good - lo, Before[0]};
  return s.good;
}

bool Slicer::cut(const BlockBox &box, unsigned dimension,
                 unsigned triedBefore) {
  unsigned tried = triedBefore | (1u << dimension);
  forgetBoxes();
  uint32_t width = std::max(1u, (box.Hi[dimension] - box.Lo[dimension]) / 4);
  for (uint32_t lo = box.Lo[dimension]; lo < box.Hi[dimension];) {
    BlockBox part = box;
    part.Lo[dimension] = lo;
    uint64_t size = 0;
    uint32_t hi = longest(part, dimension, width, size);
    part.Hi[dimension] = hi;
    if (size <= Input.deviceBudget) {
      if (Boxes.size() >= MaxSlices)
        return false;
      Boxes.push_back(part);
      ChunkSet set = Input.footprint(part);
      if (Input.extents)
        Boxwise.add(lo, hi, Input.extents(part));
      Traffic += size - bytesOf(intersection(set, Last), Input.buffers);
      if (Traffic >= Least)
        return false;
      Last = std::move(set);
    } else {
      // One layer is too large.
      unsigned next = 3;
      for (unsigned d = 3; d-- > 0 && next == 3;)
        if (!(tried & (1u << d)) && part.Hi[d] - part.Lo[d] > 1)
          next = d;
      if (next == 3) {
        TooLarge = size;
        return false;
      }
      // All of its chunks must come that the last box has not.
      if (Traffic + size >= Least &&
          Traffic + size -
                  bytesOf(intersection(Input.footprint(part), Last),
                          Input.buffers) >=
              Least)
        return false;
      if (!cut(part, next, tried))
        return false;
      forgetBoxes();
    }
    width = hi - lo;
    lo = hi;
  }
  return true;
}

} // namespace dragon
