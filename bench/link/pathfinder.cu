//===- pathfinder.cu - the cheapest way through a wall -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "pathfinder.h"

#include <algorithm>

int main(int argc, char **argv) {
  Bench bench("pathfinder", argc, argv);
  int cols = (int)((bench.size / ((Rows + 2) * sizeof(int))) | 1);
  size_t rowBytes = cols * sizeof(int), bytes = Rows * rowBytes;
  Input wall(bench, "wall", (size_t)Rows * cols, sizeof(int),
             each<int, costAt>);
  Output out(bench, "out", cols, sizeof(int));
  int blocks = (cols + Useful - 1) / Useful;

  start(bench, bytes + 2 * rowBytes, bytes, rowBytes);
  FILE *file = create(out);
  int *d_from, *d_to;
  CHECK(cudaMalloc(&d_from, rowBytes));
  CHECK(cudaMalloc(&d_to, rowBytes));
#ifdef LINK_METHODS
  if (bench.method == Method::Ring) {
    // Rows come in three slots; kernels wait for each other.
    CHECK(cudaMemcpy(d_from, wall.data, rowBytes, cudaMemcpyHostToDevice));
    cudaEvent_t before;
    CHECK(cudaEventCreateWithFlags(&before, cudaEventDisableTiming));
    CHECK(cudaEventRecord(before));
    ring({{(const int *)wall.data + cols, nullptr, rowBytes}}, Rows - 1, Height,
         [&](void **d, size_t, size_t count, cudaStream_t stream) {
           CHECK(cudaStreamWaitEvent(stream, before, 0));
           advance<<<blocks, Block, 0, stream>>>((const int *)d[0], d_from,
                                                 d_to, cols, 0, (int)count);
           CHECK(cudaEventRecord(before, stream));
           std::swap(d_from, d_to);
         });
    computed(bench);
    CHECK(cudaMemcpy(out.data, d_from, rowBytes, cudaMemcpyDeviceToHost));
    stored(bench);
  } else
#endif
  {
    int *d_wall;
    CHECK(cudaMalloc(&d_wall, bytes));
    load(d_wall, wall, bytes, bench);
    loaded(bench);
    CHECK(cudaMemcpy(d_from, d_wall, rowBytes, cudaMemcpyDeviceToDevice));
    for (int row = 1; row < Rows; row += Height) {
      int rows = Rows - row < Height ? Rows - row : Height;
      advance<<<blocks, Block>>>(d_wall, d_from, d_to, cols, row, rows);
      int *swap = d_from;
      d_from = d_to;
      d_to = swap;
    }
    computed(bench);
    store(out, file, d_from, rowBytes, bench);
    stored(bench);
    CHECK(cudaFree(d_wall));
  }
  CHECK(cudaFree(d_from));
  CHECK(cudaFree(d_to));

  Verdict verdict;
  auto right = [=](size_t col) { return cheapest(col, (size_t)cols); };
  check<int>(out, 2048, right, verdict);
  return bench.finish(verdict);
}
