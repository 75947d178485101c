//===- LaunchPlanner.cpp - how a launch fits into the budget --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchPlanner.h"

#include "runtime/launch/Slicer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace dragon {

namespace {

/// What a slice takes of the budget.
constexpr uint64_t SliceShare = 8;
/// One along a loop takes more where what its threads keep, which is read and
/// written for each at about this rate, took more than a part of the copies'
/// time.
constexpr uint64_t LoopShare = 4;
constexpr double StateRate = 1e12; // bytes a second, of device memory
constexpr double MostOfCopies = 1.0 / 16;

/// Slices of what would fit spare others the device's memory, for which they
/// may fetch what they share more than once: in all less than so many halves of
/// it.
constexpr uint64_t SparingHalves = 3;
/// The same of slices along a loop: the blocks of each panel touch what it
/// fetches, so that mapped they would fetch as much, if not over and over.
constexpr uint64_t FewLoopFetches = 4;
/// Pages that blocks fetch come so often at most, before those that are there
/// stay.
constexpr double PagesComeAgain = 4;

BlockBox firstLayer(BlockBox box, unsigned dimension) {
  box.Hi[dimension] = box.Lo[dimension] + 1;
  return box;
}
BlockBox lastLayer(BlockBox box, unsigned dimension) {
  box.Lo[dimension] = box.Hi[dimension] - 1;
  return box;
}

/// A plan, and what it costs.
struct Candidate {
  LaunchPlan::Kind kind;
  LaunchCost cost;
  std::vector<BlockBox> boxes;
  ChunkSet onHost;
};

class Planner {
public:
  Planner(const PlanInput &input, LaunchPlan &plan)
      : Input(input), Plan(plan), Grid(plan.boxes.front()) {}

  std::optional<Candidate> sliced();
  std::optional<Candidate> byLoop();
  std::optional<Candidate> mixed();
  std::optional<Candidate> hostMapped();

private:
  using Placed = PlanInput::Placed;

  /// Blocks that go through the loop together: so many layers of a dimension.
  struct Panels {
    unsigned dimension;
    uint32_t layers;
    uint64_t budget; ///< for data
    uint64_t shared; ///< bytes that the first and the last iteration touch
    uint64_t share;  ///< a slice takes so much of what they leave
    double seconds;  ///< about, for the link and for what threads keep

    uint64_t sliceBytes() const { return shared + (budget - shared) / share; }
  };
  /// Nothing, if what they keep and one iteration of the first one do not fit.
  std::optional<Panels> panelsOf(unsigned d, uint32_t layers);
  bool cut(const Panels &panels, std::vector<BlockBox> &boxes,
           uint64_t &traffic);
  bool cutPanel(BlockBox panel, const Panels &panels, Slicer &slicer);
  /// With what stands behind the loop, if its last iteration is among them.
  BlockBox withTheEnd(BlockBox box) const {
    if (box.Hi[LoopDimension] == Input.trips)
      box.Hi[LoopDimension] = ToTheEnd;
    return box;
  }

  bool fits() const { return Plan.wholeBytes <= Input.deviceBudget; }
  ChunkSet sharedAlong(unsigned d) const {
    return intersection(Input.footprint(firstLayer(Grid, d)),
                        Input.footprint(lastLayer(Grid, d)));
  }
  uint64_t bytes(const ChunkSet &set) const {
    return bytesOf(set, Input.buffers);
  }
  const std::vector<Placed> &chunks() {
    if (!Chunks)
      Chunks = Input.placed();
    return *Chunks;
  }
  struct Left {
    ChunkSet chunks;
    double accessBytes = 0;
    uint64_t converted = 0; ///< bytes without memory that can be mapped
  };
  /// The shared chunks for which the device has no room, and host memory has.
  std::optional<Left> leaveOnHost(const ChunkSet &shared, uint64_t room);
  std::optional<Candidate> mixedAlong(unsigned d);

  const PlanInput &Input;
  LaunchPlan &Plan;
  const BlockBox Grid;
  std::optional<std::vector<Placed>> Chunks;
};

std::optional<Candidate> Planner::sliced() {
  std::optional<Candidate> best;
  for (unsigned d = 3; d-- > 0;) {
    if (Input.grid[d] <= 1)
      continue;
    const ChunkSet first = Input.footprint(firstLayer(Grid, d));
    const ChunkSet last = Input.footprint(lastLayer(Grid, d));
    // Where both must be cut themselves, all of the first one's chunks come for
    // it, and all of the last one's but for what the box before has.
    if (best && bytes(first) > Input.deviceBudget &&
        bytes(last) > Input.deviceBudget &&
        bytes(first) + bytes(last) - Input.deviceBudget >= best->cost.copied)
      continue;
    const uint64_t shared =
        std::min(bytes(intersection(first, last)), Input.deviceBudget);
    const uint64_t share = Input.largeSlices ? SliceShare / 2 : SliceShare;
    const uint64_t least = best     ? best->cost.copied
                           : fits() ? Plan.wholeBytes / 2 * SparingHalves
                                    : UINT64_MAX;
    Slicer slicer(Input, shared + (Input.deviceBudget - shared) / share, least);
    if (!slicer.cut(Grid, d)) {
      if (slicer.TooLarge &&
          (Plan.smallestBytes == 0 || slicer.TooLarge < Plan.smallestBytes))
        Plan.smallestBytes = slicer.TooLarge;
      continue;
    }
    best = Candidate{LaunchPlan::Sliced,
                     {"sliced", slicer.Traffic, 0, 0, true},
                     std::move(slicer.Boxes),
                     {}};
  }
  return best;
}

std::optional<Planner::Panels> Planner::panelsOf(unsigned d, uint32_t layers) {
  uint64_t blocks = layers;
  for (unsigned other = 0; other < d; ++other)
    blocks *= Input.grid[other];
  const uint64_t state = Input.stateBytes(blocks);
  Panels panels{d, layers, 0, 0, SliceShare, 0};
  const uint64_t number = (Input.grid[d] + layers - 1) / layers;
  BlockBox first = Grid;
  first.Hi[d] = layers;
  first.Hi[LoopDimension] = Input.trips;
  const ChunkSet begin = Input.footprint(firstLayer(first, LoopDimension));
  const ChunkSet end = Input.footprint(lastLayer(first, LoopDimension));
  panels.shared = bytes(intersection(begin, end));
  const uint64_t needed = state + std::max(bytes(begin), bytes(end));
  if (needed > Input.deviceBudget) {
    if (Plan.smallestBytes == 0 || needed < Plan.smallestBytes)
      Plan.smallestBytes = needed;
    return std::nullopt;
  }
  panels.budget = Input.deviceBudget - state;
  const uint64_t touched = bytes(Input.footprint(withTheEnd(first)));
  const double copies = double(touched) / Input.rates.toDevice;
  auto keeping = [&] {
    const uint64_t own = panels.sliceBytes() - panels.shared;
    const double slices =
        1 + double(touched - std::min(touched, panels.shared)) /
                double(std::max<uint64_t>(own, 1));
    return 2 * slices * double(state) / StateRate;
  };
  if (keeping() > MostOfCopies * copies)
    panels.share = LoopShare;
  panels.seconds = double(number) * (copies + keeping());
  return panels;
}

bool Planner::cutPanel(BlockBox panel, const Panels &panels, Slicer &slicer) {
  constexpr unsigned AlongTheGrid = 7, AlongTheLoop = 1u << LoopDimension;
  const BlockBox last = lastLayer(panel, LoopDimension);
  if (bytes(Input.footprint(withTheEnd(last))) <= panels.sliceBytes())
    return slicer.cut(panel, LoopDimension, AlongTheGrid);
  --panel.Hi[LoopDimension];
  return slicer.cut(panel, LoopDimension, AlongTheGrid) &&
         slicer.cut(last, panels.dimension, AlongTheLoop);
}

bool Planner::cut(const Panels &panels, std::vector<BlockBox> &boxes,
                  uint64_t &traffic) {
  PlanInput input = Input;
  input.deviceBudget = panels.budget;
  input.footprint = [this](const BlockBox &box) {
    return Input.footprint(withTheEnd(box));
  };
  if (Input.extents)
    input.extents = [this](const BlockBox &box) {
      return Input.extents(withTheEnd(box));
    };
  if (Input.foresee)
    input.foresee = [this](std::span<const BlockBox> foreseen) {
      std::vector<BlockBox> asked(foreseen.begin(), foreseen.end());
      for (BlockBox &box : asked)
        box = withTheEnd(box);
      Input.foresee(asked);
    };
  Slicer slicer(input, panels.sliceBytes(), UINT64_MAX);
  BlockBox panel = Grid;
  panel.Hi[LoopDimension] = Input.trips;
  const unsigned d = panels.dimension;
  for (uint32_t lo = 0; lo < Grid.Hi[d]; lo = panel.Hi[d]) {
    panel.Lo[d] = lo;
    panel.Hi[d] = std::min(Grid.Hi[d] - lo, panels.layers) + lo;
    if (!cutPanel(panel, panels, slicer))
      return false;
  }
  traffic = slicer.Traffic;
  boxes = std::move(slicer.Boxes);
  for (BlockBox &box : boxes)
    box = withTheEnd(box);
  return true;
}

std::optional<Candidate> Planner::byLoop() {
  if (Input.trips < 2)
    return std::nullopt;
  // Blocks of a panel are consecutive: layers of the slowest dimension.
  unsigned d = 2;
  while (d && Input.grid[d] == 1)
    --d;
  // The most promising first, by what the first panel touches and keeps; of
  // equal ones the largest. So many panels: 1, 2, 3, 4, 6, 8, 12, 16, ...
  std::vector<Panels> ways;
  const uint64_t all = Input.grid[d];
  uint64_t before = 0;
  for (uint64_t number = 1; before != 1;
       number += std::bit_floor(std::max<uint64_t>(number / 2, 1))) {
    const uint64_t layers = (all + number - 1) / number;
    if (layers == std::exchange(before, layers))
      continue;
    if (std::optional<Panels> panels = panelsOf(d, uint32_t(layers)))
      ways.push_back(*panels);
  }
  std::sort(ways.begin(), ways.end(), [](const Panels &a, const Panels &b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.layers > b.layers;
  });
  for (const Panels &panels : ways) {
    std::vector<BlockBox> boxes;
    uint64_t traffic = 0;
    if (cut(panels, boxes, traffic) && boxes.size() > 1)
      return Candidate{LaunchPlan::LoopSliced,
                       {"by loop", traffic, 0, 0, true},
                       std::move(boxes),
                       {}};
  }
  return std::nullopt;
}

std::optional<Planner::Left> Planner::leaveOnHost(const ChunkSet &shared,
                                                  uint64_t room) {
  std::vector<PlacedChunk> placed;
  std::vector<const Placed *> which;
  auto in = shared.begin();
  for (const Placed &chunk : chunks()) {
    while (in != shared.end() &&
           (in->buffer < chunk.buffer ||
            (in->buffer == chunk.buffer && in->end <= chunk.chunk)))
      ++in;
    if (in == shared.end())
      break;
    if (in->buffer != chunk.buffer || in->begin > chunk.chunk)
      continue;
    placed.push_back(chunk.placed);
    which.push_back(&chunk);
  }
  const auto stays = choosePlaces(placed, room, Input.hostRoom, Input.rates, 1);
  if (!stays)
    return std::nullopt;
  Left result;
  for (size_t i = 0; i < which.size(); ++i) {
    if ((*stays)[i])
      continue;
    result.chunks.push_back(
        {which[i]->buffer, which[i]->chunk, which[i]->chunk + 1});
    result.accessBytes += placed[i].accessBytes;
    result.converted += placed[i].mappable ? 0 : placed[i].bytes;
  }
  normalize(result.chunks);
  return result;
}

std::optional<Candidate> Planner::mixedAlong(unsigned d) {
  const ChunkSet shared = sharedAlong(d);
  // Two layers are on the device together, each with what it has for itself.
  uint64_t own = 0;
  for (const BlockBox &layer : {firstLayer(Grid, d), lastLayer(Grid, d)})
    own = std::max(own, bytes(difference(Input.footprint(layer), shared)));
  const uint64_t room = std::max(2 * own, Input.deviceBudget / SliceShare);
  if (room >= Input.deviceBudget)
    return std::nullopt;
  auto left = leaveOnHost(shared, Input.deviceBudget - room);
  if (!left || left->chunks.empty())
    return std::nullopt;
  PlanInput rest = Input;
  rest.extents = nullptr;
  rest.footprint = [this, &left](const BlockBox &box) {
    return difference(Input.footprint(box), left->chunks);
  };
  const uint64_t kept = bytes(difference(shared, left->chunks));
  Slicer slicer(rest, kept + (Input.deviceBudget - kept) / SliceShare,
                UINT64_MAX);
  if (!slicer.cut(Grid, d) || slicer.Boxes.size() < 2)
    return std::nullopt;
  return Candidate{
      LaunchPlan::Mixed,
      {"mixed", slicer.Traffic, left->accessBytes, 0, true, 1, left->converted},
      std::move(slicer.Boxes),
      std::move(left->chunks)};
}

std::optional<Candidate> Planner::mixed() {
  std::optional<Candidate> best;
  for (unsigned d = 3; d-- > 0;)
    if (Input.grid[d] > 1)
      if (std::optional<Candidate> found = mixedAlong(d);
          found && (!best || secondsOf(found->cost, Input.rates) <
                                 secondsOf(best->cost, Input.rates)))
        best = std::move(found);
  return best;
}

std::optional<Candidate> Planner::hostMapped() {
  if (Plan.wholeBytes > Input.deviceBudget + Input.hostRoom.bytes())
    return std::nullopt;
  Candidate result{
      LaunchPlan::HostMapped, {"host-mapped", 0, 0, 0, true}, {Grid}, {}};
  auto left = leaveOnHost(Plan.whole, Input.deviceBudget);
  result.cost.possible = left.has_value();
  if (left) {
    result.cost.copied = Plan.wholeBytes - bytes(left->chunks);
    result.cost.mapped = left->accessBytes;
    if (Input.paged)
      result.cost.mapped = std::min(
          result.cost.mapped, PagesComeAgain * double(bytes(left->chunks)));
    else
      result.cost.converted = left->converted;
  }
  return result; // what it lacks is said when it runs
}

} // namespace

LaunchPlan planLaunch(const PlanInput &input) {
  LaunchPlan plan{};
  BlockBox grid{{0, 0, 0}, {input.grid[0], input.grid[1], input.grid[2]}};
  plan.whole = input.footprint(grid);
  plan.wholeBytes = bytesOf(plan.whole, input.buffers);
  plan.boxes = {grid};
  plan.kind = LaunchPlan::Resident;
  const bool fits = plan.wholeBytes <= input.deviceBudget;
  const LaunchCost resident{"resident", plan.wholeBytes, 0, 0, fits};
  if (fits)
    plan.costs = {resident};
  if (fits && !(input.sparing && input.sliceable))
    return plan;

  Planner planner(input, plan);
  std::vector<Candidate> candidates;
  auto consider = [&](std::optional<Candidate> candidate) {
    if (!candidate)
      return;
    candidate->cost.parts = candidate->boxes.size();
    candidate->cost.seconds = secondsOf(candidate->cost, input.rates);
    candidates.push_back(std::move(*candidate));
  };
  if (input.sliceable)
    consider(planner.sliced());
  const bool slicesAreCheap =
      !candidates.empty() &&
      (fits || candidates.front().cost.copied <= FewFetches * plan.wholeBytes);
  if (candidates.empty() && fits)
    return plan;
  const size_t before = candidates.size();
  if (!slicesAreCheap)
    consider(planner.byLoop());
  const bool loopIsCheap =
      candidates.size() > before &&
      candidates.back().cost.copied <= FewLoopFetches * plan.wholeBytes;
  if (!slicesAreCheap && !loopIsCheap && input.hostMapped) {
    if (input.sliceable && !input.paged)
      consider(planner.mixed());
    consider(planner.hostMapped());
  }
  if (candidates.empty()) {
    plan.kind = LaunchPlan::Impossible;
    return plan;
  }
  // The first one, where it makes no difference.
  std::swap(candidates.front(),
            *std::min_element(candidates.begin(), candidates.end(),
                              [](const Candidate &a, const Candidate &b) {
                                if (a.cost.possible != b.cost.possible)
                                  return a.cost.possible;
                                return a.cost.seconds < b.cost.seconds;
                              }));
  Candidate &best = candidates.front();
  plan.costs.clear();
  for (const Candidate &candidate : candidates)
    plan.costs.push_back(candidate.cost);
  plan.costs.push_back(resident);
  plan.boxes = std::move(best.boxes);
  plan.onHost = std::move(best.onHost);
  plan.kind = best.kind == LaunchPlan::Sliced && plan.boxes.size() == 1
                  ? LaunchPlan::Resident
                  : best.kind;
  return plan;
}

} // namespace dragon
