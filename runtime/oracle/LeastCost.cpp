//===- LeastCost.cpp - which gaps to bridge -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flow. Nodes are the steps at which gaps begin or end, in order. A unit of
// flow is a page of memory: it waits from node to node, or holds a page's
// contents from the beginning of a gap to its end.
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Oracle.h"

#define LEMON_ONLY_TEMPLATES
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cassert>
#include <vector>

namespace dragon::oracle {

namespace {

/// Gaps that are alike.
struct Class {
  Gap gap;
  int64_t pages;
};

std::vector<Class> classesOf(std::span<const Gap> gaps) {
  std::vector<Gap> sorted(gaps.begin(), gaps.end());
  auto key = [](const Gap &gap) {
    return std::tuple(gap.from, gap.to, gap.reload, gap.written);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const Gap &a, const Gap &b) { return key(a) < key(b); });
  std::vector<Class> classes;
  for (const Gap &gap : sorted)
    if (!classes.empty() && key(classes.back().gap) == key(gap))
      ++classes.back().pages;
    else
      classes.push_back({gap, 1});
  return classes;
}

} // namespace

Traffic leastCost(std::span<const Gap> gaps, uint64_t pages) {
  const std::vector<Class> classes = classesOf(gaps);
  if (classes.empty())
    return {};
  std::vector<uint32_t> steps;
  for (const Class &each : classes) {
    assert(each.gap.from < each.gap.to);
    steps.push_back(each.gap.from);
    steps.push_back(each.gap.to);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  auto nodeOf = [&](uint32_t step) {
    return int(std::lower_bound(steps.begin(), steps.end(), step) -
               steps.begin());
  };

  using Graph = lemon::SmartDigraph;
  using Solver = lemon::NetworkSimplex<Graph, int64_t, int64_t>;
  Graph graph;
  graph.reserveNode(int(steps.size()));
  graph.reserveArc(int(steps.size() + classes.size()));
  for (size_t i = 0; i < steps.size(); ++i)
    graph.addNode();
  // More memory than there are pages makes no difference.
  const int64_t units =
      int64_t(std::min<uint64_t>(pages, std::max<size_t>(gaps.size(), 1)));
  // Arcs have ids in the order in which they are added.
  std::vector<int64_t> capacity, cost;
  auto addArc = [&](int from, int to, int64_t most, int64_t earning) {
    graph.addArc(graph.nodeFromId(from), graph.nodeFromId(to));
    capacity.push_back(most);
    cost.push_back(-earning);
  };
  for (const Class &each : classes)
    addArc(nodeOf(each.gap.from), nodeOf(each.gap.to), each.pages,
           int64_t(each.gap.reload) + each.gap.written);
  for (int i = 0; i + 1 < int(steps.size()); ++i)
    addArc(i, i + 1, units, 0);
  Graph::ArcMap<int64_t> capacities(graph), costs(graph);
  for (Graph::ArcIt arc(graph); arc != lemon::INVALID; ++arc) {
    capacities[arc] = capacity[size_t(graph.id(arc))];
    costs[arc] = cost[size_t(graph.id(arc))];
  }
  Solver solver(graph);
  solver.upperMap(capacities)
      .costMap(costs)
      .stSupply(graph.nodeFromId(0), graph.nodeFromId(int(steps.size()) - 1),
                units);
  const Solver::ProblemType solved = solver.run();
  // All units can wait, and no capacity is infinite.
  assert(solved == Solver::OPTIMAL);
  (void)solved;

  Traffic least;
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto left =
        uint64_t(classes[i].pages - solver.flow(graph.arcFromId(int(i))));
    least.hostToDevice += left * classes[i].gap.reload;
    least.deviceToHost += left * classes[i].gap.written;
  }
  return least;
}

} // namespace dragon::oracle
