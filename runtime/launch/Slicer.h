//===- Slicer.h - cutting a grid into boxes ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A grid is cut along one dimension, and what does not fit along the others.
// Slices are small beside the budget: the rest of it holds what they share with
// others, what comes for the next ones, and what the next launch finds. The
// planner compares the ways (LaunchPlanner.h). Pure.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SLICER_H
#define DRAGON_RUNTIME_LAUNCH_SLICER_H

#include "runtime/launch/LaunchPlanner.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dragon {

/// What boxes touch, as two of them let expect: each range begins and ends so
/// many bytes further on for each layer. True of most kernels but at the edges
/// of the grid, and never taken for granted: it saves the search for a box's
/// length, where chunks make it another one each time.
class Drift {
public:
  void clear() { Known = 0; }
  void add(uint32_t lo, uint32_t hi, std::span<const ByteInterval> extents) {
    std::swap(Boxes[0], Boxes[1]);
    Boxes[1] = {lo, hi, {extents.begin(), extents.end()}};
    Known = std::min(Known + 1, 2u);
  }
  /// The two differ in both ends, and have the same ranges.
  bool isKnown() const {
    const auto &a = Boxes[0].extents, &b = Boxes[1].extents;
    return Known == 2 && Boxes[0].lo != Boxes[1].lo &&
           Boxes[0].hi != Boxes[1].hi && !a.empty() &&
           std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ByteInterval &x, const ByteInterval &y) {
                        return x.buffer == y.buffer;
                      });
  }
  /// The chunks of the box [lo, hi).
  void expect(uint32_t lo, uint32_t hi, const std::vector<BufferShape> &shapes,
              ChunkSet &set) const;

private:
  struct Box {
    uint32_t lo, hi;
    std::vector<ByteInterval> extents;
  };
  static double along(double from, double to, uint32_t at, uint32_t other,
                      uint32_t wanted) {
    return from + (to - from) * (double(wanted) - at) / (double(other) - at);
  }

  Box Boxes[2];
  unsigned Known = 0;
};

class Slicer {
public:
  /// Gives up when the traffic is no less than `least`.
  Slicer(const PlanInput &input, uint64_t limit, uint64_t least)
      : Input(input), Limit(std::min(limit, input.deviceBudget)), Least(least) {
  }

  bool cut(const BlockBox &box, unsigned dimension, unsigned triedBefore = 0);

  std::vector<BlockBox> Boxes;
  uint64_t Traffic = 0;  ///< bytes of slices that the slice before has not
  uint64_t TooLarge = 0; ///< bytes of what could not be cut further

private:
  uint64_t bytes(const BlockBox &box) const {
    return bytesOf(Input.footprint(box), Input.buffers);
  }
  void foresee(BlockBox box, unsigned dimension, uint32_t width, bool exactly);
  /// The end of the box from `lo`, as the two before it let expect; `lo` where
  /// they let expect that not even one layer fits.
  uint32_t expectedEnd(uint32_t lo, uint32_t end, uint64_t limit);
  /// longest(), if it comes true what they let expect; else 0. `expected`: what
  /// did not come true, if anything was expected.
  uint32_t asExpected(BlockBox box, unsigned dimension, uint64_t limit,
                      uint64_t &found, uint32_t &expected);
  void forgetBoxes() {
    Layer.reset();
    Alike = Foreseen = Expected = 0;
    Boxwise.clear();
  }
  /// What is known while the end of a box is sought.
  struct Search {
    uint32_t lo, end;        ///< of the box, and the last that it may have
    uint32_t good;           ///< the longest that is known to fit
    uint32_t bad;            ///< the shortest that is known not to
    uint64_t found = 0;      ///< what `good` takes
    uint64_t tooMuch = 0;    ///< and `bad`; 0: not known
    bool isMeasured = false; ///< `found` is
  };
  /// How much further the next attempt is: the length that the boxes before
  /// had, one more than that, else where a line through what is known crosses
  /// the limit; or half way. `guessing`: the first.
  double step(const Search &search, uint32_t guess, unsigned turn,
              bool wasGuessed, bool &guessing) const;
  void search(const BlockBox &box, unsigned dimension, uint32_t guess,
              Search &search);
  /// Finds lengths that fit and do not next to the end that was expected: where
  /// boxes differ as data do, it is missed by little.
  void searchNear(const BlockBox &box, unsigned dimension, uint64_t limit,
                  uint32_t expected, Search &search);
  uint64_t bytesTo(BlockBox box, unsigned dimension, uint32_t hi) const {
    box.Hi[dimension] = hi;
    return bytes(box);
  }
  /// The end of a box from box.Lo that stays within the limit, or within what
  /// its first layer takes alone, and is long enough. `found`: its bytes.
  uint32_t longest(BlockBox box, unsigned dimension, uint32_t guess,
                   uint64_t &found);

  const PlanInput &Input;
  const uint64_t Limit;
  const uint64_t Least;
  ChunkSet Last;
  /// What the layer took that was looked at last, in the dimension that is cut.
  std::optional<uint64_t> Layer;
  /// The last two lengths that differ.
  std::array<uint32_t, 2> Before{};
  uint32_t Alike = 0;    ///< boxes in a row of the length that was guessed
  uint32_t Foreseen = 0; ///< up to here, in the dimension that is cut
  Drift Boxwise;
  uint32_t Expected = 0; ///< boxes in a row that came true
  ChunkSet Guess;        ///< of a box that is expected
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SLICER_H
