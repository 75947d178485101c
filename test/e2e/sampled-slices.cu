// Launches of which a condition leaves out most, or nothing, or most of one end of the grid: parts from all over the grid run with
// the copy that fetches pages, and say whether the rest does so, too, or is copied in slices. All blocks run once, whichever it is,
// and what all of the launch overwrites keeps what the samples wrote.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K ./program
// RUN: env DRAGON_LOG=debug DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program 2>&1 \
// RUN:   | grep -E "^none|^all|^front|^back|^few|parts" | FileCheck %s
// RUN: %ledger stats.json 'paged_launches >= 5' 'sliced_launches == 2'
//   Where most of the launch is needed, what has run are the samples; of the others all parts have.
// CHECK:      fetched pages in [[ALL:[0-9]+]] of [[ALL]] parts
// CHECK-NEXT: none right
// CHECK-NEXT: fetched pages in 8 of {{[0-9]+}} parts
// CHECK-NEXT: all right
// CHECK-NEXT: fetched pages in [[ALL:[0-9]+]] of [[ALL]] parts
// CHECK-NEXT: few right
// CHECK-NEXT: fetched pages in [[ALL:[0-9]+]] of [[ALL]] parts
// CHECK-NEXT: front right
// CHECK-NEXT: fetched pages in 8 of {{[0-9]+}} parts
// CHECK-NEXT: back right
// RUN: for seed in 1 2 3 4; do \
// RUN:   env LD_LIBRARY_PATH=%libdir/../test/late LATE_SEED=$seed DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=256K ./program \
// RUN:   || { echo $seed; exit 1; }; done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

constexpr uint32_t Rows = 1 << 16, PerRow = 64, Threads = 128;

/// The sums of the rows that are wanted, and 1 for all others. It writes what
/// says which those are, so that nobody reads that in front of it.
__global__ void sums(const uint64_t *first, const uint32_t *entry, int *wanted,
                     uint32_t *sum, int which) {
  const uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t all = 1;
  if (wanted[row] == which) {
    for (uint64_t at = first[row]; at < first[row + 1]; ++at)
      all += entry[at];
    wanted[row] = -1;
  }
  sum[row] = all;
}

int main() {
  std::vector<uint64_t> first(Rows + 1);
  for (uint32_t row = 0; row < Rows; ++row)
    first[row + 1] = first[row] + PerRow / 2 + row % PerRow;
  std::vector<uint32_t> entry(first[Rows]);
  for (size_t i = 0; i < entry.size(); ++i)
    entry[i] = uint32_t(i) * 2654435761u;
  uint64_t *d_first;
  uint32_t *d_entry, *d_sum;
  int *d_wanted;
  CHECK(cudaMalloc(&d_first, first.size() * sizeof(uint64_t)));
  CHECK(cudaMalloc(&d_entry, entry.size() * sizeof(uint32_t)));
  CHECK(cudaMalloc(&d_wanted, Rows * sizeof(int)));
  CHECK(cudaMalloc(&d_sum, Rows * sizeof(uint32_t)));
  CHECK(cudaMemcpy(d_first, first.data(), first.size() * sizeof(uint64_t),
                   cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_entry, entry.data(), entry.size() * sizeof(uint32_t),
                   cudaMemcpyHostToDevice));

  struct Case {
    const char *name;
    std::function<bool(uint32_t)> isWanted;
  };
  const Case cases[] = {
      {"none", [](uint32_t) { return false; }},
      {"all", [](uint32_t) { return true; }},
      {"few", [](uint32_t row) { return row % 1024 == 0; }},
      {"front", [](uint32_t row) { return row < Rows / 32; }},
      {"back", [](uint32_t row) { return row >= Rows / 8; }},
  };
  bool right = true;
  int which = 0;
  for (const Case &one : cases) {
    ++which;
    std::vector<int> wanted(Rows, -1);
    for (uint32_t row = 0; row < Rows; ++row)
      if (one.isWanted(row))
        wanted[row] = which;
    CHECK(cudaMemcpy(d_wanted, wanted.data(), Rows * sizeof(int),
                     cudaMemcpyHostToDevice));
    sums<<<Rows / Threads, Threads>>>(d_first, d_entry, d_wanted, d_sum, which);
    std::vector<uint32_t> sum(Rows);
    CHECK(cudaMemcpy(sum.data(), d_sum, Rows * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
    bool same = true;
    for (uint32_t row = 0; row < Rows; ++row) {
      uint32_t all = 1;
      if (one.isWanted(row))
        for (uint64_t at = first[row]; at < first[row + 1]; ++at)
          all += entry[at];
      same &= sum[row] == all;
    }
    printf("%s %s\n", one.name, same ? "right" : "WRONG");
    fflush(stdout);
    right &= same;
  }
  CHECK(cudaFree(d_first));
  CHECK(cudaFree(d_entry));
  CHECK(cudaFree(d_wanted));
  CHECK(cudaFree(d_sum));
  return right ? 0 : 1;
}
