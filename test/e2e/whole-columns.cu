// A kernel of which each thread goes through a column of a matrix, again and again: any slice needs a little of every row, and so do any
// iterations of its outer loop. It runs in host memory where that has room. Beyond it fetches pages: of each a block needs a part of the row.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -Rpass=dragon %s -o program 2> remarks && FileCheck %s < remarks
// CHECK: kernel 'sortColumns' has a copy that fetches pages of what is not in device memory: each block goes through all of a buffer
// RUN: %plain ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program
// RUN: %ledger stats.json 'paged_launches == 1' 'host_to_device_paging < 100 * M'
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=128M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program
// RUN: %ledger stats.json 'paged_launches == 0' 'host_mapped_launches == 1'
// RUN: not %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=16M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=off ./program 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OFF
// OFF: kernel 'sortColumns' may touch 48 MiB at once
// RUN: rm -rf %t.dir
#include "tables.h"
#include <algorithm>

static const int Rows = 24, Width = 1 << 19;

__global__ void sortColumns(uint32_t *matrix, int rows, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  for (int row = 1; row < rows; ++row) {
    const uint32_t value = matrix[row * width + column];
    int at = row;
    for (; at > 0 && matrix[(at - 1) * width + column] > value; --at)
      matrix[at * width + column] = matrix[(at - 1) * width + column];
    matrix[at * width + column] = value;
  }
}

int main() {
  Words in(size_t(Rows) * Width), out(in.size());
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = mixed(i);
  uint32_t *matrix;
  CHECK(cudaMalloc(&matrix, in.size() * sizeof(uint32_t)));
  CHECK(cudaMemcpy(matrix, in.data(), in.size() * sizeof(uint32_t),
                   cudaMemcpyHostToDevice));
  sortColumns<<<Width / 256, 256>>>(matrix, Rows, Width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), matrix, in.size() * sizeof(uint32_t),
                   cudaMemcpyDeviceToHost));
  Words column(Rows);
  for (int c = 0; c < Width; ++c) {
    for (int row = 0; row < Rows; ++row)
      column[row] = in[size_t(row) * Width + c];
    std::sort(column.begin(), column.end());
    for (int row = 0; row < Rows; ++row)
      REQUIRE(out[size_t(row) * Width + c] == column[row]);
  }
  CHECK(cudaFree(matrix));
}
