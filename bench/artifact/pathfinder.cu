//===- pathfinder.cu - the cheapest way through a wall -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/pathfinder.h"

int main(int argc, char **argv) {
  Bench bench("pathfinder", argc, argv);
  int cols = (int)((bench.size / ((Rows + 2) * sizeof(int))) | 1);
  size_t rowBytes = cols * sizeof(int), bytes = Rows * rowBytes;
  Input wall(bench, "wall", (size_t)Rows * cols, sizeof(int),
             each<int, costAt>);
  Output out(bench, "out", cols, sizeof(int));
  int blocks = (cols + Useful - 1) / Useful;

  start(bench, bytes + 2 * rowBytes, bytes, rowBytes);
  int *d_wall = map<int>(wall, bytes, D_F_READ);
  int *d_out = map<int>(out, rowBytes, D_F_WRITE | D_F_CREATE);
  int *d_from, *d_to;
  CHECK(cudaMallocManaged(&d_from, rowBytes));
  CHECK(cudaMallocManaged(&d_to, rowBytes));
  loaded(bench);
  memcpy(d_from, d_wall, rowBytes); // the host reads maps, too
  for (int row = 1; row < Rows; row += Height) {
    int rows = Rows - row < Height ? Rows - row : Height;
    int *to = row + rows == Rows ? d_out : d_to;
    advance<<<blocks, Block>>>(d_wall, d_from, to, cols, row, rows);
    d_to = d_from;
    d_from = to;
  }
  computed(bench);
  MAP(dragon_unmap(d_wall));
  MAP(dragon_unmap(d_out));
  stored(bench);
  CHECK(cudaFree(d_to));

  Verdict verdict;
  auto right = [=](size_t col) { return cheapest(col, (size_t)cols); };
  check<int>(out, 2048, right, verdict);
  return bench.finish(verdict);
}
