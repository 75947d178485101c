//===- OracleTest.cpp - the oracle against exhaustive search --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For small traces every choice of gaps to bridge is tried, and its traffic is
// counted byte by byte along each byte's life, with the whole trace at hand. The
// oracle must never be above the best of them, and be that where it is exact.
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Oracle.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace dragon;
using namespace dragon::oracle;

namespace {

// A page has two halves here.
constexpr unsigned Parts = 2;
constexpr uint64_t PartBytes = PageBytes / Parts;

struct Event {
  enum { Step, HostWrite, HostRead } kind;
  /// Step: page -> parts read, parts written. Host: parts.
  std::map<unsigned, std::pair<unsigned, unsigned>> uses;
};
using Trace = std::vector<Event>;

PageMask maskOf(unsigned parts) {
  PageMask mask;
  for (unsigned part = 0; part < Parts; ++part)
    if (parts >> part & 1)
      mask.add(part * PartBytes, (part + 1) * PartBytes);
  return mask;
}

uint64_t oracleTraffic(const Trace &trace, uint64_t pages) {
  Oracle oracle;
  for (const Event &event : trace) {
    std::vector<PageAccess> accesses;
    for (auto [page, parts] : event.uses) {
      for (unsigned part = 0; part < Parts; ++part) {
        uintptr_t begin = page * PageBytes + part * PartBytes;
        if (event.kind == Event::HostWrite && parts.second >> part & 1)
          oracle.hostWrote({begin, begin + PartBytes});
        if (event.kind == Event::HostRead && parts.first >> part & 1)
          oracle.hostRead({begin, begin + PartBytes});
      }
      accesses.push_back({page, maskOf(parts.first), maskOf(parts.second)});
    }
    if (event.kind == Event::Step)
      oracle.step(accesses);
  }
  return oracle.leastTraffic(pages * PageBytes).total();
}

/// The steps that use a page, and which of the gaps between them are bridged.
struct Use {
  unsigned page;
  size_t from, to; // events
};

uint64_t cost(const Trace &trace, const std::vector<Use> &gaps,
              unsigned bridged) {
  auto leaves = [&](unsigned page, size_t event) {
    // Before this event, the page's last use was not bridged.
    for (size_t i = 0; i < gaps.size(); ++i)
      if (gaps[i].page == page && gaps[i].to == event)
        return !(bridged >> i & 1);
    return false;
  };
  auto readLater = [&](unsigned page, unsigned part, size_t from) {
    for (size_t e = from; e < trace.size(); ++e) {
      auto found = trace[e].uses.find(page);
      if (found == trace[e].uses.end())
        continue;
      if (found->second.first >> part & 1)
        return true;
      if (found->second.second >> part & 1)
        return false;
    }
    return false;
  };
  uint64_t moved = 0;
  std::map<std::pair<unsigned, unsigned>, std::pair<bool, bool>> at;
  for (size_t e = 0; e < trace.size(); ++e)
    for (auto [page, parts] : trace[e].uses)
      for (unsigned part = 0; part < Parts; ++part) {
        auto &[onHost, onDevice] = at[{page, part}];
        const bool reads = parts.first >> part & 1;
        const bool writes = parts.second >> part & 1;
        if (trace[e].kind == Event::Step && leaves(page, e) && onDevice) {
          // It left after its last use; what is read later was saved. (A
          // host's read in between only saves it earlier.)
          if (!onHost && readLater(page, part, e)) {
            moved += PartBytes;
            onHost = true;
          }
          onDevice = false;
        }
        switch (trace[e].kind) {
        case Event::Step:
          if (reads && !onDevice && onHost) {
            moved += PartBytes;
            onDevice = true;
          }
          if (writes) {
            onDevice = true;
            onHost = false;
          }
          break;
        case Event::HostWrite:
          if (writes) {
            onHost = true;
            onDevice = false;
          }
          break;
        case Event::HostRead:
          if (reads && onDevice && !onHost) {
            moved += PartBytes;
            onHost = true;
          }
          break;
        }
      }
  return moved;
}

uint64_t bestTraffic(const Trace &trace, uint64_t pages) {
  std::vector<Use> gaps;
  std::map<unsigned, size_t> last;
  for (size_t e = 0; e < trace.size(); ++e)
    if (trace[e].kind == Event::Step)
      for (auto [page, parts] : trace[e].uses) {
        if (last.count(page))
          gaps.push_back({page, last[page], e});
        last[page] = e;
      }
  uint64_t best = UINT64_MAX;
  for (unsigned bridged = 0; bridged < 1u << gaps.size(); ++bridged) {
    bool fits = true;
    for (size_t e = 0; e < trace.size() && fits; ++e) {
      uint64_t held = 0;
      for (size_t i = 0; i < gaps.size(); ++i)
        held += (bridged >> i & 1) && gaps[i].from <= e && e < gaps[i].to;
      fits = held <= pages;
    }
    if (fits)
      best = std::min(best, cost(trace, gaps, bridged));
  }
  return best;
}

/// Whole pages, or their halves; each version is read by one step at most, or
/// by any number.
Trace randomTrace(unsigned seed, bool whole, bool once) {
  std::mt19937 random(seed);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  auto parts = [&] { return whole ? 3 : 1 + below(3); };
  Trace trace;
  std::map<unsigned, bool> used; // the version has been read by a step
  unsigned uses = 0;
  while (trace.size() < 9 && uses < 12) {
    Event event{};
    const unsigned what = below(8);
    event.kind = what == 0   ? Event::HostWrite
                 : what == 1 ? Event::HostRead
                             : Event::Step;
    for (unsigned page = 0; page < 3; ++page) {
      if (below(2))
        continue;
      unsigned read = below(2) ? parts() : 0, written = below(2) ? parts() : 0;
      if (event.kind == Event::HostWrite)
        read = 0, written = parts();
      if (event.kind == Event::HostRead)
        read = parts(), written = 0;
      if (event.kind == Event::Step) {
        if (once && read && used[page])
          written = 3; // a new one
        if (once && read && used[page])
          read = 0;
        if (read)
          used[page] = true;
        uses += read || written;
      }
      if (written)
        used[page] = false;
      if (read || written)
        event.uses[page] = {read, written};
    }
    if (!event.uses.empty())
      trace.push_back(event);
  }
  return trace;
}

TEST(Oracle, IsNeverAboveTheBestChoice) {
  for (unsigned seed = 0; seed < 400; ++seed)
    for (uint64_t pages : {0, 1, 2}) {
      Trace trace = randomTrace(seed, false, false);
      EXPECT_LE(oracleTraffic(trace, pages), bestTraffic(trace, pages))
          << "seed " << seed << ", " << pages << " pages";
    }
}

TEST(Oracle, IsTheBestChoiceForWholePagesReadOnce) {
  for (unsigned seed = 0; seed < 400; ++seed)
    for (uint64_t pages : {0, 1, 2}) {
      Trace trace = randomTrace(seed, true, true);
      EXPECT_EQ(oracleTraffic(trace, pages), bestTraffic(trace, pages))
          << "seed " << seed << ", " << pages << " pages";
    }
}

TEST(Oracle, LeastCostIsThatOfTheBestSubset) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<Gap> gaps(1 + random() % 9);
    for (Gap &gap : gaps) {
      gap.from = uint32_t(random() % 6);
      gap.to = gap.from + 1 + uint32_t(random() % 5);
      gap.reload = uint32_t(random() % 20);
      gap.written = uint32_t(random() % 20);
    }
    for (uint64_t pages : {0, 1, 2, 3}) {
      uint64_t best = UINT64_MAX;
      for (unsigned kept = 0; kept < 1u << gaps.size(); ++kept) {
        uint64_t sum = 0;
        unsigned held[12] = {};
        for (size_t i = 0; i < gaps.size(); ++i)
          if (kept >> i & 1)
            for (uint32_t t = gaps[i].from; t < gaps[i].to; ++t)
              ++held[t];
          else
            sum += gaps[i].reload + gaps[i].written;
        if (*std::max_element(std::begin(held), std::end(held)) <= pages)
          best = std::min(best, sum);
      }
      EXPECT_EQ(leastCost(gaps, pages).total(), best);
    }
  }
}

/// A sweep over a buffer twice as large as the memory: half of it stays.
TEST(Oracle, KeepsHalfOfASweep) {
  Oracle oracle;
  constexpr unsigned Pages = 32;
  oracle.hostWrote({0, Pages * PageBytes});
  for (unsigned sweep = 0; sweep < 3; ++sweep)
    for (unsigned page = 0; page < Pages; ++page) {
      PageAccess access{page, PageMask::all(), {}};
      oracle.step({&access, 1});
    }
  Traffic least = oracle.leastTraffic(Pages / 2 * PageBytes);
  EXPECT_EQ(least.deviceToHost, 0u);
  // Once all of it, then what does not stay; that may be other pages each time.
  EXPECT_GE(least.hostToDevice, (Pages + 2 * (Pages / 2 - 1)) * PageBytes);
  EXPECT_LE(least.hostToDevice, (Pages + 2 * (Pages / 2)) * PageBytes);
  EXPECT_EQ(oracle.leastTraffic(Pages * PageBytes).total(), Pages * PageBytes);
}

TEST(Oracle, CopiesAndFillsMoveNothing) {
  Oracle oracle;
  oracle.hostWrote({0, PageBytes});
  oracle.copied(2 * PageBytes, 100, 1000); // is where its source is
  PageAccess access{2, PageMask::all(), {}};
  oracle.step({&access, 1});
  EXPECT_EQ(oracle.leastTraffic(PageBytes).total(), 1000u);
  oracle.filled({2 * PageBytes, 2 * PageBytes + 500});
  oracle.hostRead({2 * PageBytes, 3 * PageBytes});
  EXPECT_EQ(oracle.leastTraffic(PageBytes).total(), 1000u);
}

} // namespace
