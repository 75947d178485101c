//===- Wavefront.cpp - slices of several launches together ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Wavefront.h"
#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace dragon {

namespace {

/// So many slices of the launch must have run.
struct Requirement {
  uint32_t launch;
  uint32_t slices;
};
using Requirements = std::vector<Requirement>;

void require(Requirements &list, Requirement added) {
  for (Requirement &known : list)
    if (known.launch == added.launch) {
      known.slices = std::max(known.slices, added.slices);
      return;
    }
  list.push_back(added);
}

/// The slices of a launch that use a chunk.
class ChunkUsers {
public:
  explicit ChunkUsers(uint32_t launch) : Launch(launch) {}
  uint32_t launch() const { return Launch; }

  /// How many slices must have run for one to have used the chunk.
  uint32_t slicesUntilUsed() const { return First + 1; }

  void add(uint32_t slice, const WaveUse &use) {
    if (Users.empty())
      First = slice;
    Last = slice;
    Touched = hull(Touched, use.touched);
    if (use.writes)
      Written = hull(Written, use.written);
    if (Users.size() <= MaxUsers)
      Users.push_back({slice, use.touched, writtenBy(use)});
  }

  /// How many slices must have run before a later launch may do that.
  uint32_t slicesBefore(const WaveUse &use) const {
    if (!conflict({Last, Touched, Written}, use))
      return 0;
    if (Users.size() > MaxUsers)
      return Last + 1;
    for (size_t i = Users.size(); i-- > 0;)
      if (conflict(Users[i], use))
        return Users[i].slice + 1;
    return 0;
  }

  /// Who conflicts with one of the launch before conflicts with these, too,
  /// and these wait for that one.
  bool supersede(const ChunkUsers &before) const {
    if (Users.size() > MaxUsers)
      return false;
    std::vector<ChunkPart> parts;
    for (const User &user : Users)
      if (!user.written.empty())
        parts.push_back(user.written);
    std::sort(parts.begin(), parts.end(),
              [](ChunkPart a, ChunkPart b) { return a.begin < b.begin; });
    size_t covered = before.Touched.begin;
    for (const ChunkPart &part : parts)
      if (part.begin <= covered)
        covered = std::max(covered, part.end);
    return covered >= before.Touched.end;
  }

private:
  struct User {
    uint32_t slice;
    ChunkPart touched, written;
  };
  /// With more than that they are taken as one that uses what all of them use.
  static constexpr size_t MaxUsers = 128;

  static ChunkPart writtenBy(const WaveUse &use) {
    return use.writes ? use.written : ChunkPart();
  }
  static bool conflict(const User &user, const WaveUse &use) {
    return intersects(user.written, use.touched) ||
           intersects(user.touched, writtenBy(use));
  }

  uint32_t Launch;
  uint32_t First = 0, Last = 0;
  ChunkPart Touched, Written;
  std::vector<User> Users; ///< ascending
};

/// What each slice waits for; slices of a launch run one behind the other. A
/// launch that need not wait for any, keeps step with those that use the same
/// chunks.
std::vector<std::vector<Requirements>> requirementsOf(WaveLaunches launches) {
  std::unordered_map<uint32_t, std::vector<ChunkUsers>> chunks;
  std::vector<std::vector<Requirements>> result;
  for (uint32_t launch = 0; launch < launches.size(); ++launch) {
    const WaveSlices &slices = *launches[launch].slices;
    std::unordered_map<uint32_t, ChunkUsers> here;
    std::vector<Requirements> needs(slices.size()), inStep(slices.size());
    bool waits = false;
    for (uint32_t slice = 0; slice < slices.size(); ++slice)
      for (const WaveUse &use : slices[slice]) {
        const std::vector<ChunkUsers> &known = chunks[use.chunk];
        for (const ChunkUsers &users : known)
          if (const uint32_t before = users.slicesBefore(use)) {
            require(needs[slice], {users.launch(), before});
            waits = true;
          }
        if (!waits && !known.empty())
          require(inStep[slice],
                  {known.back().launch(), known.back().slicesUntilUsed()});
        here.try_emplace(use.chunk, launch).first->second.add(slice, use);
      }
    result.push_back(std::move(waits ? needs : inStep));
    for (auto &[number, users] : here) {
      std::vector<ChunkUsers> &known = chunks[number];
      std::erase_if(known, [&users = users](const ChunkUsers &before) {
        return users.supersede(before);
      });
      known.push_back(std::move(users));
    }
  }
  return result;
}

/// Launches go on as early as they can behind those that they wait for. What
/// waits for nothing that the first launch begins, such as what clears the
/// result of another, could run at any time: soon before others need it is
/// best, and what nobody needs comes in the end, in the same manner.
class WaveOrder {
public:
  explicit WaveOrder(WaveLaunches launches)
      : Launches(launches), Needs(requirementsOf(launches)),
        Done(launches.size()), OnDemand(launches.size()) {}

  std::vector<WaveStep> take() {
    for (uint32_t first = 0; first < Launches.size(); ++first)
      if (Done[first] < slicesOf(first))
        runFrom(first);
    return std::move(Order);
  }

private:
  uint32_t slicesOf(uint32_t launch) const {
    return uint32_t(Launches[launch].slices->size());
  }
  bool all(const Requirements &list, auto predicate) const {
    return std::all_of(list.begin(), list.end(), predicate);
  }

  /// Runs the launches behind it that wait for it, and what they need.
  void runFrom(uint32_t first) {
    for (uint32_t launch = 0; launch < Launches.size(); ++launch)
      OnDemand[launch] =
          launch != first &&
          std::all_of(Needs[launch].begin(), Needs[launch].end(),
                      [&](const Requirements &ofSlice) {
                        return all(ofSlice, [&](const Requirement &need) {
                          return bool(OnDemand[need.launch]);
                        });
                      });
    // The first launch can always go on.
    for (uint32_t launch = uint32_t(Launches.size()); launch-- > first;)
      if (isReady(launch)) {
        runUntil(launch, Done[launch] + 1);
        launch = uint32_t(Launches.size());
      }
  }

  bool isReady(uint32_t launch) const {
    return !OnDemand[launch] && Done[launch] < slicesOf(launch) &&
           all(
               Needs[launch][Done[launch]],
               [&](const Requirement &need) {
                 return OnDemand[need.launch] ||
                        Done[need.launch] >= need.slices;
               });
  }

  void runUntil(uint32_t launch, uint32_t slices) {
    while (Done[launch] < slices) {
      for (const Requirement &need : Needs[launch][Done[launch]])
        runUntil(need.launch, need.slices);
      Order.push_back({launch, Done[launch]++});
    }
  }

  WaveLaunches Launches;
  std::vector<std::vector<Requirements>> Needs; ///< of each launch's slices
  std::vector<uint32_t> Done;                   ///< slices of each launch
  std::vector<bool> OnDemand;
  std::vector<WaveStep> Order;
};

} // namespace

std::vector<WaveStep> wavefront(WaveLaunches launches) {
  return WaveOrder(launches).take();
}

void appendWave(std::vector<WaveStep> &order, WaveLaunches launches,
                size_t first, size_t length) {
  for (const WaveStep &step : wavefront(launches.subspan(first, length)))
    order.push_back({uint32_t(first + step.launch), step.slice});
}

std::vector<WaveStep> wavefronts(WaveLaunches launches,
                                 std::span<const size_t> lengths) {
  std::vector<WaveStep> order;
  size_t first = 0;
  for (size_t length : lengths) {
    appendWave(order, launches, first, length);
    first += length;
  }
  return order;
}

} // namespace dragon
