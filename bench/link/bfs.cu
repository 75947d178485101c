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
// Out-degrees and the vertices that edges lead to both follow power laws
// (Rows.h): few vertices, with low numbers, are where many edges end.
//
// All is checked, as in the Graph500 benchmark: no edge leads further than one
// level down, and each vertex but the first has an edge from the level above.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Rows.h"

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

// Also counts what was touched: the level of each vertex, and those that were
// reached with where their edges begin and end, and their edges.
static void checkLevels(const int *level, Bench &bench, Verdict &verdict) {
  std::vector<unsigned char> reached(RowCount);
  std::atomic<size_t> wrong{0};
  size_t touched = sumOfRows([&](size_t v, uint64_t edge, uint64_t behind) {
    size_t bytes = sizeof(int), bad = 0;
    bad += level[v] < -1 || (level[v] == 0) != (v == 0);
    if (level[v] >= 0) {
      bool last = v + 1 == RowCount || level[v + 1] < 0;
      bytes += (last ? 2 : 1) * sizeof(uint64_t);
      bytes += (behind - edge) * sizeof(uint32_t);
      for (; edge < behind; ++edge) {
        uint32_t t = targetAt(edge);
        bad += level[t] < 0 || level[t] > level[v] + 1;
        if (level[t] == level[v] + 1)
          __atomic_store_n(&reached[t], 1, __ATOMIC_RELAXED);
      }
    }
    if (bad)
      wrong += bad;
    return bytes;
  });
  bench.touched = touched + sizeof(int);
  verdict.wrong += wrong;
  for (size_t v = 1; v < RowCount; ++v)
    verdict.wrong += level[v] > 0 && !reached[v];
  verdict.checked += PartFirst.back() + RowCount;
}

int main(int argc, char **argv) {
  Bench bench("bfs", argc, argv);
  // 8 bytes for a vertex's first edge, 4 for its level, 8 edges of 4 bytes.
  planRows(std::max<size_t>(2, bench.size / 44));
  size_t vertices = RowCount, edges = PartFirst.back();
  size_t firstBytes = (vertices + 1) * sizeof(uint64_t);
  size_t targetBytes = edges * sizeof(uint32_t);
  size_t levelBytes = vertices * sizeof(int);
  Input firstEdge(bench, "firstEdge", vertices + 1, sizeof(uint64_t),
                  makeFirsts);
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
  checkLevels((const int *)resultsOf(level), bench, verdict);
  checkElements(level, 0, nullptr, nullptr, verdict);
  return bench.finish(verdict);
}
