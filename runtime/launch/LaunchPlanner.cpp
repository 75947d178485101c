//===- LaunchPlanner.cpp - how a launch fits into the budget --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchPlanner.h"

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

/// Cuts a grid along one dimension, and what does not fit along the others.
/// Slices are small beside the budget: the rest of it holds what they share
/// with others, what comes for the next ones, and what the next launch finds.
constexpr uint64_t SliceShare = 8;

/// Slices that fetch everything so often are not taken without a look at the
/// alternatives.
constexpr uint64_t FewFetches = 2;

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
  /// longest(), if it comes true what they let expect; else 0.
  uint32_t asExpected(BlockBox box, unsigned dimension, uint64_t limit,
                      uint64_t &found);
  void forgetBoxes() {
    Layer.reset();
    Alike = Foreseen = Expected = 0;
    Boxwise.clear();
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
                            uint64_t &found) {
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
    return 0;
  }
  ++Expected;
  found = bytesOf(Guess, Input.buffers);
  return hi;
}

uint32_t Slicer::longest(BlockBox box, unsigned dimension, uint32_t guess,
                         uint64_t &found) {
  const uint32_t lo = box.Lo[dimension], end = box.Hi[dimension];
  if (Layer && *Layer > Limit / 8)
    if (uint32_t hi =
            asExpected(box, dimension, std::max(Limit, *Layer), found))
      return hi;
  auto measure = [&](uint32_t hi) {
    BlockBox part = box;
    part.Hi[dimension] = hi;
    return bytes(part);
  };
  uint32_t good = lo + 1;  // the longest that is known to fit
  uint32_t bad = end + 1;  // the shortest that is known not to
  uint64_t tooMuch = 0;    // what that takes
  bool isMeasured = false; // what `good` takes
  if (Layer && guess > 1) {
    // Mostly the next box is like the one before.
    const uint32_t hi = uint32_t(std::min<uint64_t>(end, uint64_t(lo) + guess));
    if (Input.foresee && Alike >= 2 && lo >= Foreseen)
      foresee(box, dimension, guess, *Layer > Limit / 8);
    const uint64_t size = measure(hi);
    if (size <= Limit && (hi == end || isLongEnough(size, Limit, *Layer))) {
      ++Alike;
      found = size;
      return hi;
    }
    if (size <= Limit)
      good = hi, found = size, isMeasured = true;
    else
      bad = hi, tooMuch = size;
  }
  if (!Layer) {
    // What one layer takes, chunks being what they are, is no waste for more.
    Layer = found = measure(lo + 1);
    isMeasured = true;
    if (found > Input.deviceBudget)
      return good;
  }
  const uint64_t layer = *Layer, limit = std::max(Limit, layer);
  if (!isMeasured)
    found = layer; // about
  if (tooMuch && tooMuch <= limit)
    good = bad, found = tooMuch, isMeasured = true, bad = end + 1, tooMuch = 0;
  // The length that the boxes before had, one more than that, else where a line
  // through what is known crosses the limit; or half way.
  const bool exactly = layer > limit / 8;
  const double wanted = double(exactly ? limit : limit - limit / 16);
  bool wasGuessed = isMeasured && good - lo == guess;
  for (unsigned turn = 0; good < end && bad - good > 1 &&
                          !(isMeasured && isLongEnough(found, limit, layer));
       ++turn) {
    const uint32_t width = good - lo, other = Before[Before[0] == guess];
    double step = bad <= end ? (bad - good) / 2 : width;
    bool guessing = false;
    if (wasGuessed && exactly)
      step = 1;
    else if (lo + uint64_t(other) > good && lo + uint64_t(other) < bad &&
             turn < MaxGuesses)
      step = other - width, guessing = true;
    else if (turn == 0 && width == 1 && bad > end)
      step = guess;
    else if (turn < MaxGuesses && tooMuch > found)
      step = (wanted - double(found)) * (bad - good) / double(tooMuch - found);
    else if (turn < MaxGuesses && width > 1 && found > layer)
      step = (wanted - double(found)) * (width - 1) / double(found - layer);
    wasGuessed = false;
    const auto next = uint32_t(
        good + std::clamp(step, 1.0, double(std::min(end, bad - 1) - good)));
    const uint64_t size = measure(next);
    if (size <= limit) {
      good = next;
      found = size;
      isMeasured = true;
      wasGuessed = guessing;
    } else {
      bad = next;
      tooMuch = size;
    }
  }
  if (!isMeasured)
    found = measure(good);
  if (found > limit && found <= Input.deviceBudget) {
    // One layer, which takes more than the one that was looked at.
    Layer = found;
    return longest(box, dimension, guess, found);
  }
  if (good - lo == guess)
    ++Alike;
  else
    Alike = Foreseen = 0;
  if (good - lo != Before[0])
    Before = {good - lo, Before[0]};
  return good;
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

BlockBox firstLayer(BlockBox box, unsigned dimension) {
  box.Hi[dimension] = box.Lo[dimension] + 1;
  return box;
}
BlockBox lastLayer(BlockBox box, unsigned dimension) {
  box.Lo[dimension] = box.Hi[dimension] - 1;
  return box;
}

} // namespace

void normalize(ChunkSet &set) {
  std::sort(set.begin(), set.end(),
            [](const ChunkInterval &a, const ChunkInterval &b) {
              return a.buffer != b.buffer ? a.buffer < b.buffer
                                          : a.begin < b.begin;
            });
  size_t n = 0;
  for (const ChunkInterval &interval : set) {
    if (interval.begin >= interval.end)
      continue;
    if (n && set[n - 1].buffer == interval.buffer &&
        interval.begin <= set[n - 1].end)
      set[n - 1].end = std::max(set[n - 1].end, interval.end);
    else
      set[n++] = interval;
  }
  set.resize(n);
}

ChunkSet intersection(const ChunkSet &a, const ChunkSet &b) {
  ChunkSet result;
  auto x = a.begin(), y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->buffer != y->buffer) {
      ++(x->buffer < y->buffer ? x : y);
      continue;
    }
    uint32_t begin = std::max(x->begin, y->begin);
    uint32_t end = std::min(x->end, y->end);
    if (begin < end)
      result.push_back({x->buffer, begin, end});
    ++(x->end < y->end ? x : y);
  }
  return result;
}

ChunkSet difference(const ChunkSet &a, const ChunkSet &b) {
  ChunkSet result;
  auto cut = b.begin();
  for (ChunkInterval left : a) {
    while (cut != b.end() &&
           (cut->buffer < left.buffer ||
            (cut->buffer == left.buffer && cut->end <= left.begin)))
      ++cut;
    for (auto c = cut;
         c != b.end() && c->buffer == left.buffer && c->begin < left.end; ++c) {
      if (left.begin < c->begin)
        result.push_back({left.buffer, left.begin, c->begin});
      left.begin = std::max(left.begin, c->end);
    }
    if (left.begin < left.end)
      result.push_back(left);
  }
  return result;
}

uint64_t bytesOf(const ChunkSet &set, const std::vector<BufferShape> &shapes) {
  uint64_t bytes = 0;
  for (const ChunkInterval &interval : set) {
    const BufferShape &shape = shapes[interval.buffer];
    bytes += std::min(shape.bytes, interval.end * shape.chunkBytes) -
             std::min(shape.bytes, interval.begin * shape.chunkBytes);
  }
  return bytes;
}

namespace {

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
  std::optional<Candidate> mixed();
  std::optional<Candidate> hostMapped();

private:
  using Placed = PlanInput::Placed;

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
  /// Of the shared ones, what the device has no room for, and host memory has.
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
    Slicer slicer(Input, shared + (Input.deviceBudget - shared) / share,
                  best ? best->cost.copied : UINT64_MAX);
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
  const auto stays =
      choosePlaces(placed, room, Input.hostBudget, Input.rates, 1);
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
  // Of what a layer has for itself, two go with each other.
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
  if (Plan.wholeBytes > Input.deviceBudget + Input.hostBudget)
    return std::nullopt;
  Candidate result{
      LaunchPlan::HostMapped, {"host-mapped", 0, 0, 0, true}, {Grid}, {}};
  auto left = leaveOnHost(Plan.whole, Input.deviceBudget);
  result.cost.possible = left.has_value();
  if (left) {
    result.cost.copied = Plan.wholeBytes - bytes(left->chunks);
    result.cost.mapped = left->accessBytes;
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
  if (!slicesAreCheap && input.hostMapped) {
    if (input.sliceable)
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
