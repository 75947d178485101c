//===- pagerank.cu - PageRank on a power-law graph ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Edges are stored with the vertex that they lead to, as the numbers of those
// that they come from (Rows.h). So a thread for each vertex gathers what its
// neighbours give it, in a fixed order: a rank divided by the edges that leave,
// which a kernel counts first.
//
// All ranks are checked: the host computes them again, step by step.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Rows.h"

using namespace bench;

__global__ void countEdges(const uint32_t *source, uint64_t edges,
                           uint32_t *leaving) {
  uint64_t edge = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (edge < edges)
    atomicAdd(&leaving[source[edge]], 1);
}

BENCH_BOTH inline float given(float rank, uint32_t leaving) {
  return leaving ? rank / (float)leaving : 0;
}

BENCH_BOTH inline float ranked(float sum, uint32_t vertices) {
  return 0.15f / (float)vertices + 0.85f * sum;
}

__global__ void begin(float *rank, uint32_t vertices) {
  uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices)
    rank[v] = 1 / (float)vertices;
}

__global__ void give(const float *rank, const uint32_t *leaving, float *gift,
                     uint32_t vertices) {
  uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices)
    gift[v] = given(rank[v], leaving[v]);
}

__global__ void gather(const uint64_t *firstEdge, const uint32_t *source,
                       const float *gift, float *rank, uint32_t vertices) {
  uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices)
    return;
  float sum = 0;
  uint64_t last = firstEdge[v + 1];
  for (uint64_t edge = firstEdge[v]; edge < last; ++edge)
    sum += gift[source[edge]];
  rank[v] = ranked(sum, vertices);
}

static std::vector<float> ranksOnHost(int steps) {
  const uint32_t vertices = (uint32_t)RowCount;
  std::vector<uint32_t> leaving(vertices);
  std::vector<float> rank(vertices, 1 / (float)vertices), gift(vertices);
  onAllCores(PartFirst.back(), [&](size_t first, size_t last) {
    for (size_t edge = first; edge < last; ++edge)
      __atomic_fetch_add(&leaving[targetAt(edge)], 1, __ATOMIC_RELAXED);
  });
  for (int step = 0; step < steps; ++step) {
    onAllCores(vertices, [&](size_t first, size_t last) {
      for (size_t v = first; v < last; ++v)
        gift[v] = given(rank[v], leaving[v]);
    });
    sumOfRows([&](size_t v, uint64_t edge, uint64_t behind) {
      float sum = 0;
      for (; edge < behind; ++edge)
        sum += gift[targetAt(edge)];
      rank[v] = ranked(sum, vertices);
      return 0;
    });
  }
  return rank;
}

int main(int argc, char **argv) {
  Bench bench("pagerank", argc, argv, 4);
  // 8 bytes for a vertex's first edge, 12 for its rank, its gift and the count
  // of its edges, 8 edges of 4 bytes.
  planRows(std::max<size_t>(2, bench.size / 52));
  size_t edges = PartFirst.back();
  uint32_t vertices = (uint32_t)RowCount;
  size_t firstBytes = (RowCount + 1) * sizeof(uint64_t);
  size_t sourceBytes = edges * sizeof(uint32_t);
  size_t rankBytes = RowCount * sizeof(float);
  Input firstEdge(bench, "firstEdge", RowCount + 1, sizeof(uint64_t),
                  makeFirsts);
  Input source(bench, "source", edges, sizeof(uint32_t),
               each<uint32_t, targetAt>);
  Output rank(bench, "rank", RowCount, sizeof(float));
  const int threads = 256;
  unsigned blocks = (unsigned)((RowCount + threads - 1) / threads);
  unsigned edgeBlocks = (unsigned)((edges + threads - 1) / threads);

  bench.touched = firstBytes + sourceBytes + 3 * rankBytes;
  start(bench, bench.touched, firstBytes + sourceBytes, rankBytes);
  FILE *file = create(rank);
  uint64_t *d_firstEdge;
  uint32_t *d_source, *d_leaving;
  float *d_rank, *d_gift;
  CHECK(cudaMalloc(&d_firstEdge, firstBytes));
  CHECK(cudaMalloc(&d_source, sourceBytes));
  CHECK(cudaMalloc(&d_leaving, rankBytes));
  CHECK(cudaMalloc(&d_rank, rankBytes));
  CHECK(cudaMalloc(&d_gift, rankBytes));
  load(d_firstEdge, firstEdge, firstBytes, bench);
  load(d_source, source, sourceBytes, bench);
  loaded(bench);
  CHECK(cudaMemset(d_leaving, 0, rankBytes));
  countEdges<<<edgeBlocks, threads>>>(d_source, edges, d_leaving);
  begin<<<blocks, threads>>>(d_rank, vertices);
  for (int step = 0; step < bench.steps; ++step) {
    give<<<blocks, threads>>>(d_rank, d_leaving, d_gift, vertices);
    gather<<<blocks, threads>>>(d_firstEdge, d_source, d_gift, d_rank,
                                vertices);
  }
  computed(bench);
  store(rank, file, d_rank, rankBytes, bench);
  stored(bench);
  CHECK(cudaFree(d_firstEdge));
  CHECK(cudaFree(d_source));
  CHECK(cudaFree(d_leaving));
  CHECK(cudaFree(d_rank));
  CHECK(cudaFree(d_gift));

  Verdict verdict;
  std::vector<float> right = ranksOnHost(bench.steps);
  check<float>(rank, All, [&](size_t v) { return right[v]; }, verdict);
  return bench.finish(verdict);
}
