// Kernels that write to memory that no buffer is (here of cudaHostAlloc) at positions that are data, and kernels that store
// pointers to buffers in memory: neither accesses the buffers, of which not all fit on the device, and these stay where they are.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: ./program | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program | FileCheck %s
//   Half of the 16 MiB leaves as the rest is filled, and nothing comes back.
// RUN: %ledger stats.json 'host_to_device == 0' 'device_to_host <= 10*M' 'host_mapped_launches == 0'
// CHECK: 12 of 12 rounds right
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cstdio>

constexpr int N = 1 << 20, Rows = 256, Buffers = 4, Rounds = 12;

__global__ void fill(int *data, int value) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

struct Row {
  int words[2048];
};

// Anywhere in 32 TiB around `to`, for all that its code says.
__global__ void scatter(Row *to, const int *positions, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[positions[i]].words[i] = value + i;
}

// The table is all that it accesses.
__global__ void tabulate(int **table, int *const first, int *const second) {
  table[threadIdx.x] = threadIdx.x % 2 ? second : first + 1;
}

int main() {
  int *data[Buffers], *positions;
  Row *theirs;
  for (int b = 0; b < Buffers; ++b) {
    CHECK(cudaMalloc(&data[b], N * sizeof(int)));
    fill<<<N / 256, 256>>>(data[b], b);
  }
  CHECK(cudaHostAlloc(&theirs, 2 * Rows * sizeof(Row), cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&positions, Rows * sizeof(int), cudaHostAllocMapped));
  int right = 0;
  for (int round = 0; round < Rounds; ++round) {
    // From the middle, back and forth.
    for (int i = 0; i < Rows; ++i)
      positions[i] = (i * 17 + round) % Rows - Rows / 2;
    scatter<<<1, Rows>>>(theirs + Rows, positions, round * Rows);
    CHECK(cudaDeviceSynchronize());
    bool same = true;
    for (int i = 0; i < Rows; ++i)
      same &= theirs[Rows + positions[i]].words[i] == round * Rows + i;
    tabulate<<<1, 4>>>(reinterpret_cast<int **>(theirs), data[round % Buffers],
                       data[(round + 1) % Buffers]);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; ++i)
      same &= reinterpret_cast<int **>(theirs)[i] ==
              (i % 2 ? data[(round + 1) % Buffers] : data[round % Buffers] + 1);
    right += same;
  }
  int last = 0;
  CHECK(cudaMemcpy(&last, data[Buffers - 1] + N - 1, sizeof(last),
                   cudaMemcpyDeviceToHost));
  printf("%d of %d rounds right\n", last == Buffers - 1 ? right : 0, Rounds);
}
