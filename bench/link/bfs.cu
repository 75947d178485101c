//===- bfs.cu - breadth-first search on a power-law graph ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Level by level, a thread for each vertex: those of the current level mark
// their neighbours. Where a vertex's edges lie and whom they lead to are data:
// nothing about the accesses is known in front of a launch, and most of the
// graph is not touched in most of them.
//
// The graph is made by all cores: out-degrees and the vertices that edges lead
// to both follow power laws (few vertices, with low numbers, are where many
// edges end), and each is a hash of its number. It is never in one piece except
// in the arrays themselves.
//
// All is checked, as in the Graph500 benchmark: no edge leads further than one
// level down, and each vertex but the first has an edge from the level above.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>
#include <cmath>

using namespace bench;

__global__ void expand(const uint64_t *firstEdge, const uint32_t *target,
                       int *level, uint32_t vertices, int current,
                       int *changed) {
  uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != current)
    return;
  uint64_t last = firstEdge[v + 1];
  for (uint64_t edge = firstEdge[v]; edge < last; ++edge) {
    uint32_t t = target[edge];
    if (level[t] < 0) {
      level[t] = current + 1; // whoever comes first: all write the same
      *changed = 1;
    }
  }
}

// -- The graph --------------------------------------------------------------

const size_t PartVertices = 1 << 14;
static size_t Vertices = 0;
// The first edge of each part of the vertices, and behind them the last edge.
static std::vector<uint64_t> PartEdges;

// At least 4, 8 on average; the share of vertices with more than d is 16 / d^2.
static uint64_t degree(size_t v) {
  double u = (double)((mix(v, 1) >> 40) + 1) * 0x1p-24;
  return (uint64_t)(4 / std::sqrt(u));
}

// The share of edges that end in the first x of the vertices is sqrt(x).
static uint32_t targetAt(size_t edge) {
  double w = (double)(mix(edge, 2) >> 11) * 0x1p-53;
  return (uint32_t)((double)Vertices * w * w);
}

static void planGraph(size_t vertices) {
  Vertices = vertices;
  size_t parts = (vertices + PartVertices - 1) / PartVertices;
  PartEdges.assign(parts + 1, 0);
  onAllCores(vertices, [=](size_t first, size_t last) {
    // The parts that begin in [first, last).
    size_t part = (first + PartVertices - 1) / PartVertices;
    for (; part * PartVertices < last; ++part) {
      size_t end = std::min((part + 1) * PartVertices, vertices);
      for (size_t v = part * PartVertices; v < end; ++v)
        PartEdges[part + 1] += degree(v);
    }
  });
  for (size_t part = 0; part < parts; ++part)
    PartEdges[part + 1] += PartEdges[part];
}

// Elements [first, last) of the array of vertices + 1 first edges.
static void makeFirstEdges(void *elements, size_t first, size_t last) {
  size_t v = first / PartVertices * PartVertices;
  uint64_t edge = PartEdges[v / PartVertices];
  for (; v < first; ++v)
    edge += degree(v);
  for (size_t i = first; i < last; ++i) {
    ((uint64_t *)elements)[i - first] = edge;
    edge += degree(i);
  }
}

// -- The check --------------------------------------------------------------

static void checkLevels(const int *level, Verdict &verdict) {
  std::vector<unsigned char> reached(Vertices);
  std::vector<size_t> wrong(PartEdges.size());
  onAllCores(Vertices, [&](size_t first, size_t last) {
    size_t part = (first + PartVertices - 1) / PartVertices;
    for (; part * PartVertices < last; ++part) {
      uint64_t edge = PartEdges[part];
      size_t end = std::min((part + 1) * PartVertices, Vertices);
      for (size_t v = part * PartVertices; v < end; ++v) {
        uint64_t behind = edge + degree(v);
        wrong[part] += level[v] < -1 || (level[v] == 0) != (v == 0);
        for (; edge < behind; ++edge) {
          uint32_t t = targetAt(edge);
          if (level[v] < 0)
            continue;
          wrong[part] += level[t] < 0 || level[t] > level[v] + 1;
          if (level[t] == level[v] + 1)
            __atomic_store_n(&reached[t], 1, __ATOMIC_RELAXED);
        }
      }
    }
  });
  for (size_t part : wrong)
    verdict.wrong += part;
  for (size_t v = 1; v < Vertices; ++v)
    verdict.wrong += level[v] > 0 && !reached[v];
  verdict.checked += PartEdges.back() + Vertices;
}

int main(int argc, char **argv) {
  Bench bench("bfs", argc, argv);
  // 8 bytes for a vertex's first edge, 4 for its level, 8 edges of 4 bytes.
  planGraph(std::max<size_t>(2, bench.size / 44));
  size_t vertices = Vertices, edges = PartEdges.back();
  size_t firstBytes = (vertices + 1) * sizeof(uint64_t);
  size_t targetBytes = edges * sizeof(uint32_t);
  size_t levelBytes = vertices * sizeof(int);
  Input firstEdge(bench, "firstEdge", vertices + 1, sizeof(uint64_t),
                  makeFirstEdges);
  Input target(bench, "target", edges, sizeof(uint32_t),
               each<uint32_t, targetAt>);
  Output level(bench, "level", vertices, sizeof(int));
  const int threads = 256;
  unsigned blocks = (unsigned)((vertices + threads - 1) / threads);

  start(bench, firstBytes + targetBytes + levelBytes + sizeof(int),
        firstBytes + targetBytes, levelBytes);
  FILE *file = create(level);
  uint64_t *d_firstEdge;
  uint32_t *d_target;
  int *d_level, *d_changed;
  CHECK(cudaMalloc(&d_firstEdge, firstBytes));
  CHECK(cudaMalloc(&d_target, targetBytes));
  CHECK(cudaMalloc(&d_level, levelBytes));
  CHECK(cudaMalloc(&d_changed, sizeof(int)));
  load(d_firstEdge, firstEdge, firstBytes, bench);
  load(d_target, target, targetBytes, bench);
  loaded(bench);
  const int root = 0;
  int changed = 1;
  CHECK(cudaMemset(d_level, 0xff, levelBytes));
  CHECK(cudaMemcpy(d_level, &root, sizeof(int), cudaMemcpyHostToDevice));
  for (int current = 0; changed; ++current) {
    CHECK(cudaMemset(d_changed, 0, sizeof(int)));
    expand<<<blocks, threads>>>(d_firstEdge, d_target, d_level,
                                (uint32_t)vertices, current, d_changed);
    CHECK(cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost));
  }
  computed(bench);
  store(level, file, d_level, levelBytes, bench);
  stored(bench);
  CHECK(cudaFree(d_firstEdge));
  CHECK(cudaFree(d_target));
  CHECK(cudaFree(d_level));
  CHECK(cudaFree(d_changed));

  Verdict verdict;
  checkLevels((const int *)resultsOf(level), verdict);
  checkElements(level, 0, nullptr, nullptr, verdict);
  return bench.finish(verdict);
}
