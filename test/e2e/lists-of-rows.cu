// Each block adds up the rows of a list, which begins somewhere in an array of rows: long lists first. The first list is longer than what
// follows the beginning of the last one, and behind all of them lie other rows. Only those in lists come to the device.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: ./program | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K ./program | FileCheck %s
// CHECK: right
//   In each of four rounds 20 other rows of 16 KiB, of 2048. The table is written once.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program
// RUN: %ledger stats.json 'host_to_device <= 6*M' 'device_to_host <= 37*M' 'host_mapped_launches == 0'
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int Row = 1 << 12, Rows = 2048, Lists = 48, Used = 20, Threads = 256;
constexpr int Behind = 4096;

__global__ void fill(int *table) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i] = i % 1009;
}

__global__ void add(int *sums, const int2 *lists, const int *rows,
                    const int *table) {
  const int2 list = lists[blockIdx.x];
  for (int k = threadIdx.x; k < Row; k += Threads) {
    int sum = 0;
    for (int item = 0; item < list.y; ++item)
      sum += table[(long long)rows[list.x + item] * Row + k];
    sums[blockIdx.x * Row + k] = sum;
  }
}

int main() {
  int *table, *sums, *scratch;
  CHECK(cudaMalloc(&table, sizeof(int) * Row * Rows));
  CHECK(cudaMalloc(&sums, sizeof(int) * Row * Lists));
  CHECK(cudaMalloc(&scratch, 1 << 18));
  fill<<<Row * Rows / Threads, Threads>>>(table);
  uint32_t random = 12345;
  auto next = [&random] {
    random = random * 1664525u + 1013904223u;
    return random >> 8;
  };
  std::vector<int> got(size_t(Row) * Lists);
  for (int round = 0; round < 4; ++round) {
    std::vector<int2> lists;
    std::vector<int> rows;
    for (int l = 0; l < Lists; ++l) {
      const int length = std::max(1, 200 / (l + 1));
      lists.push_back({int(rows.size()), length});
      for (int item = 0; item < length; ++item)
        rows.push_back(round * 500 + int(next() % Used) * 7);
    }
    const std::vector<int> inLists = rows;
    for (int i = 0; i < Behind; ++i) // of others, as were there before
      rows.push_back(int(next() % Rows));
    int *const deviceRows = scratch + 2 * Lists;
    CHECK(cudaMemcpy(deviceRows, rows.data(), rows.size() * sizeof(int),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(scratch, lists.data(), lists.size() * sizeof(int2),
                     cudaMemcpyHostToDevice));
    add<<<Lists, Threads>>>(sums, reinterpret_cast<const int2 *>(scratch),
                            deviceRows, table);
    CHECK(cudaMemcpy(got.data(), sums, got.size() * sizeof(int),
                     cudaMemcpyDeviceToHost));
    for (int l = 0; l < Lists; ++l)
      for (int k = 0; k < Row; ++k) {
        int sum = 0;
        for (int item = 0; item < lists[l].y; ++item)
          sum += int(((long long)inLists[lists[l].x + item] * Row + k) % 1009);
        if (got[size_t(l) * Row + k] != sum) {
          printf("round %d, list %d, word %d: %d, not %d\n", round, l, k,
                 got[size_t(l) * Row + k], sum);
          return 1;
        }
      }
  }
  printf("right\n");
}
