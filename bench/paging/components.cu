//===- components.cu - connected components of a power-law graph ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each vertex begins as a component of its own, with its number as the label. A
// thread for each vertex brings the least label of the vertex and its
// neighbours to all of them, until nothing changes. Edges are stored in one
// direction and count in both.
//
// The graph has 64 components, which are known: vertex v is in component v %
// 64, and is tied to a vertex with a lower number by its first edge. Where
// edges lead follows a power law (Rows.h) within a component.
//
// All is checked: the label of v is v % 64.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Rows.h"

using namespace bench;

__global__ void number(uint32_t *label, uint32_t vertices) {
  uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices)
    label[v] = v;
}

__global__ void propagate(const uint64_t *firstEdge, const uint32_t *target,
                          uint32_t *label, uint32_t vertices, int *changed) {
  uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices)
    return;
  uint32_t least = label[v];
  uint64_t last = firstEdge[v + 1];
  for (uint64_t edge = firstEdge[v]; edge < last; ++edge) {
    uint32_t t = target[edge], other = label[t];
    if (other < least) {
      least = other;
    } else if (least < other) {
      atomicMin(&label[t], least);
      *changed = 1;
    }
  }
  if (least < label[v]) {
    atomicMin(&label[v], least);
    *changed = 1;
  }
}

const uint32_t Components = 64;

// Vertices with one v / Components are neighbours in numbers; one of each is in
// each component.
static uint32_t neighbour(size_t v, uint64_t edge, bool first) {
  size_t group = v / Components, groups = RowCount / Components;
  return (uint32_t)(skewed(edge, first ? group : groups) * Components +
                    v % Components);
}

int main(int argc, char **argv) {
  Bench bench("components", argc, argv);
  // 8 bytes for a vertex's first edge, 4 for its label, 8 edges of 4 bytes.
  size_t vertices = std::max<size_t>(1, bench.size / 44 / Components);
  vertices *= Components;
  planRows(vertices);
  size_t edges = PartFirst.back();
  size_t firstBytes = (vertices + 1) * sizeof(uint64_t);
  size_t targetBytes = edges * sizeof(uint32_t);
  size_t labelBytes = vertices * sizeof(uint32_t);
  Input firstEdge(bench, "firstEdge", vertices + 1, sizeof(uint64_t),
                  makeFirsts);
  Input target(bench, "target", edges, sizeof(uint32_t),
               eachOfRows<uint32_t, neighbour>);
  Output label(bench, "label", vertices, sizeof(uint32_t));
  const int threads = 256;
  unsigned blocks = (unsigned)((vertices + threads - 1) / threads);

  bench.touched = firstBytes + targetBytes + labelBytes + sizeof(int);
  start(bench, bench.touched, firstBytes + targetBytes, labelBytes);
  FILE *file = create(label);
  uint64_t *d_firstEdge;
  uint32_t *d_target, *d_label;
  int *d_changed, changed = 1;
  CHECK(cudaMalloc(&d_firstEdge, firstBytes));
  CHECK(cudaMalloc(&d_target, targetBytes));
  CHECK(cudaMalloc(&d_label, labelBytes));
  CHECK(cudaMalloc(&d_changed, sizeof(int)));
  load(d_firstEdge, firstEdge, firstBytes, bench);
  load(d_target, target, targetBytes, bench);
  loaded(bench);
  number<<<blocks, threads>>>(d_label, (uint32_t)vertices);
  while (changed) {
    CHECK(cudaMemset(d_changed, 0, sizeof(int)));
    propagate<<<blocks, threads>>>(d_firstEdge, d_target, d_label,
                                   (uint32_t)vertices, d_changed);
    CHECK(cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost));
  }
  computed(bench);
  store(label, file, d_label, labelBytes, bench);
  stored(bench);
  CHECK(cudaFree(d_firstEdge));
  CHECK(cudaFree(d_target));
  CHECK(cudaFree(d_label));
  CHECK(cudaFree(d_changed));

  Verdict verdict;
  auto expected = [](size_t v) { return (uint32_t)(v % Components); };
  check<uint32_t>(label, All, expected, verdict);
  return bench.finish(verdict);
}
