//===- CutCalls.cpp - library calls that are made in pieces ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/libraries/CutCalls.h"

#include "runtime/cudart/capture/Capture.h"
#include "runtime/launch/CallPieces.h"
#include "runtime/trace/Log.h"

#include <cuda_runtime_api.h>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace dragon;

namespace {

/// A piece that does not fit where it is, across more chunks than the first, is
/// cut again: each level's pieces are of one of the level before.
struct Level {
  CallPieces pieces;
  std::vector<int64_t> offset; ///< by dimension
};
struct Plan {
  std::vector<Level> levels;
  /// Until its first piece is known.
  std::optional<LibraryCall> whole;
  bool cutsLast = false; ///< also along what is cut if nothing else helps
  bool failed = false;
};

Plan *planOf(const dragon_library_pieces &pieces) {
  return static_cast<Plan *>(pieces.plan);
}

std::span<dragon_library_range> rangesOf(dragon_library_pieces &pieces) {
  return {pieces.range, static_cast<size_t>(pieces.ranges)};
}

bool isCut(const dragon_library_range &range, bool last) {
  return range.cut != DRAGON_LIBRARY_CUT_NEVER &&
         (last || range.cut != DRAGON_LIBRARY_CUT_LAST) &&
         (!range.scalar || isReadInCall(range.scalar));
}

/// Pieces of what the ranges are now.
Level levelFor(dragon_library_pieces &pieces) {
  std::vector<CallPieces::Dimension> dimensions;
  std::vector<int64_t> offset;
  for (const dragon_library_range &range : rangesOf(pieces)) {
    dimensions.push_back({range.count, isCut(range, planOf(pieces)->cutsLast),
                          range.scalar != nullptr});
    offset.push_back(range.begin);
  }
  return {CallPieces(std::move(dimensions)), std::move(offset)};
}

void setRanges(dragon_library_pieces &pieces) {
  const Level &level = planOf(pieces)->levels.back();
  size_t dimension = 0;
  for (dragon_library_range &range : rangesOf(pieces)) {
    range.begin = level.offset[dimension] + level.pieces.begin(dimension);
    range.count = level.pieces.count(dimension++);
  }
}

/// The last level anew, if more of it can be cut.
bool cutAlsoLast(dragon_library_pieces &pieces) {
  Plan &plan = *planOf(pieces);
  if (std::exchange(plan.cutsLast, true))
    return false;
  const Level level = std::move(plan.levels.back());
  plan.levels.pop_back();
  size_t dimension = 0;
  for (dragon_library_range &range : rangesOf(pieces)) {
    range.begin = level.offset[dimension];
    range.count = level.pieces.all(dimension++);
  }
  plan.levels.push_back(levelFor(pieces));
  return true;
}

void logPieces(const LibraryCall &call, dragon_library_pieces &pieces) {
  std::string sizes;
  for (const dragon_library_range &range : rangesOf(pieces))
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " x ", range.count);
  log(LogLevel::Debug, "makes '{}' in pieces of {}", call.function, sizes);
}

/// When the first piece is about to be made.
void discardOverwritten(Front &front, Plan &plan) {
  const std::optional<LibraryCall> whole =
      std::exchange(plan.whole, std::nullopt);
  if (!whole)
    return;
  // What is not discarded is fetched.
  if (Status status = front.runtime.libraries().discardOverwritten(*whole);
      !status.ok())
    log(LogLevel::Info, "{}", status.message());
}

} // namespace

bool dragon::isReadInCall(const void *scalar) {
  cudaPointerAttributes known{};
  return cudaPointerGetAttributes(&known, scalar) == cudaSuccess &&
         known.type == cudaMemoryTypeUnregistered;
}

bool dragon::isLookingForPieces(const dragon_library_pieces *pieces) {
  return pieces && planOf(*pieces) &&
         !planOf(*pieces)->levels.back().pieces.isSettled();
}

bool dragon::cutCall(Front &front, const LibraryCall &call,
                     dragon_library_pieces &pieces) {
  auto needs = front.runtime.libraries().footprintOf(call);
  if (!needs.ok())
    return false; // it is told where the call begins
  if (!isLookingForPieces(&pieces)) {
    if (needs->bytes <= needs->room)
      return false;
    if (!pieces.plan)
      pieces.plan = new Plan;
    if (planOf(pieces)->failed)
      return false;
    // A captured call does nothing yet.
    if (planOf(pieces)->levels.empty() && !capturing())
      planOf(pieces)->whole = call;
    planOf(pieces)->levels.push_back(levelFor(pieces));
  }
  const CallPieces::Answer answer =
      planOf(pieces)->levels.back().pieces.weigh(*needs);
  const bool impossible = answer == CallPieces::Answer::Impossible;
  if (impossible && cutAlsoLast(pieces))
    return true;
  planOf(pieces)->failed = impossible;
  if (answer == CallPieces::Answer::Settled)
    discardOverwritten(front, *planOf(pieces));
  setRanges(pieces);
  if (answer == CallPieces::Answer::Settled && logging(LogLevel::Debug))
    logPieces(call, pieces);
  return answer == CallPieces::Answer::Again;
}

bool dragon::nextPiece(dragon_library_pieces &pieces, bool failed) {
  Plan *plan = planOf(pieces);
  if (!plan)
    return false;
  while (!failed && !plan->levels.empty()) {
    if (plan->levels.back().pieces.advance()) {
      setRanges(pieces);
      return true;
    }
    plan->levels.pop_back();
  }
  endPieces(pieces);
  return false;
}

void dragon::endPieces(dragon_library_pieces &pieces) {
  delete planOf(pieces);
  pieces.plan = nullptr;
}
