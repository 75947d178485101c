//===- StorageParts.cpp - what of a launch finds frames -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StorageParts.h"

#include "runtime/launch/LoopState.h"

#include <algorithm>

namespace dragon {

namespace {

/// A part should take this share of the frames: the half of them is free when
/// it begins.
constexpr uint64_t ShareOfFrames = 8;
/// The first one's threads are expected to touch so many pages each.
constexpr uint64_t FirstPages = 4;
/// From one part to the next it grows at most so many times.
constexpr uint64_t Growth = 4;

uint64_t wantedOf(uint64_t frames) {
  return std::max<uint64_t>(frames / ShareOfFrames, 1);
}

} // namespace

BlockBox BlockRuns::next(uint64_t blocks) {
  BlockBox box{};
  for (unsigned d = 0; d < 3; ++d) {
    box.Lo[d] = At[d];
    box.Hi[d] = At[d] + 1;
  }
  // Along the slowest dimension of which all that is faster fits, and is there.
  uint64_t faster = 1;
  unsigned axis = 0;
  while (axis < 2 && At[axis] == 0 && faster * Grid[axis] <= blocks) {
    box.Hi[axis] = Grid[axis];
    faster *= Grid[axis++];
  }
  const uint64_t count =
      std::clamp<uint64_t>(blocks / faster, 1, Grid[axis] - At[axis]);
  box.Hi[axis] = At[axis] += uint32_t(count);
  for (; axis < 2 && At[axis] == Grid[axis]; ++axis) {
    At[axis] = 0;
    ++At[axis + 1];
  }
  return box;
}

void BlockRuns::again(const BlockBox &box) { std::copy_n(box.Lo, 3, At); }

BlocksAtOnce::BlocksAtOnce(uint64_t frames, uint64_t blockThreads, bool again)
    : Wanted(wantedOf(frames)),
      Blocks(std::max<uint64_t>(
          Wanted / std::max<uint64_t>(blockThreads * FirstPages, 1), 1)),
      Most(again ? UINT64_MAX : Blocks) {}

void BlocksAtOnce::took(uint64_t frames, uint64_t blocks) {
  const uint64_t next = frames == 0 ? UINT64_MAX : Wanted * blocks / frames;
  Blocks = std::clamp<uint64_t>(next, 1, std::min(Blocks * Growth, Most));
}

void BlocksAtOnce::resize(uint64_t frames) { Wanted = wantedOf(frames); }

uint64_t StorageParts::blocksOfPanel(uint64_t frames, uint64_t blockThreads) {
  return std::max<uint64_t>(
      wantedOf(frames) / std::max<uint64_t>(blockThreads, 1), 1);
}

bool StorageParts::mayNeedAll(uint64_t frames, uint64_t blockThreads) {
  return blockThreads * FirstPages > frames / 2;
}

StorageParts::StorageParts(const uint32_t grid[3], const Limits &limits)
    : Given(limits), Frames(limits.frames), Runs(grid),
      Size(limits.frames, limits.blockThreads, limits.repeats) {}

uint64_t StorageParts::units() const {
  const BlockBox &box = Last.box;
  if (!Last.isOfLoop())
    return blocksOf(box);
  const uint32_t end = std::min<uint32_t>(box.Hi[LoopDimension], Given.trips);
  return blocksOf(box) * (end - box.Lo[LoopDimension]);
}

const StorageParts::Part &StorageParts::next() {
  if (Given.trips < 2) {
    Last.box = Runs.next(Size.blocks());
    return Last;
  }
  if (Rest.empty()) {
    Panel = Runs.next(std::min(Size.blocks(), Given.mostBlocks));
    Rest.push_back(Panel);
    Rest.back().Hi[LoopDimension] = Given.trips;
  }
  BlockBox &from = Rest.back();
  const uint32_t begin = from.Lo[LoopDimension], end = from.Hi[LoopDimension];
  Last = {from, Panel};
  const uint64_t count =
      std::clamp<uint64_t>(Size.blocks() / blocksOf(from), 1, end - begin);
  Last.box.Hi[LoopDimension] = from.Lo[LoopDimension] = begin + uint32_t(count);
  if (from.Lo[LoopDimension] == end)
    Rest.pop_back();
  if (Last.box.Hi[LoopDimension] == Given.trips)
    Last.box.Hi[LoopDimension] = ToTheEnd;
  return Last;
}

void StorageParts::took(uint64_t frames) {
  Size.took(frames, units());
  if (!Last.isOfLoop() || Last.box.Hi[LoopDimension] == ToTheEnd)
    Done += blocksOf(Last.box);
}

bool StorageParts::again(bool hadAll) {
  const uint64_t were = units();
  if (!Last.isOfLoop()) {
    Runs.again(Last.box);
  } else {
    BlockBox box = Last.box;
    if (box.Hi[LoopDimension] == ToTheEnd)
      box.Hi[LoopDimension] = Given.trips;
    Rest.push_back(box);
    const auto longest = std::max_element(
        box.Lo, box.Lo + 3, [&](const uint32_t &a, const uint32_t &b) {
          return box.Hi[&a - box.Lo] - a < box.Hi[&b - box.Lo] - b;
        });
    const auto d = unsigned(longest - box.Lo);
    const uint32_t length = box.Hi[d] - box.Lo[d];
    const bool isOne = box.Hi[LoopDimension] - box.Lo[LoopDimension] == 1;
    if (isOne && length > 1) { // one iteration of some of its blocks
      Rest.push_back(box);
      Rest[Rest.size() - 2].Lo[d] = Rest.back().Hi[d] = box.Lo[d] + length / 2;
    }
  }
  Size.took(Frames, were);
  return were > 1 || !hadAll;
}

void StorageParts::resize(uint64_t frames) {
  Frames = frames;
  Size.resize(frames);
}

} // namespace dragon
