// The program computes for each step where a kernel goes, copies that to the device and frees its memory: experts of a token, the ends
// of rows. The runtime reads such an array on the device once; from then on it knows what was copied, until something else writes there.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: ./program both | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K ./program both | FileCheck %s
// CHECK: experts right
// CHECK: rows right
//
//   Twelve times, of which each third is by a kernel: the array of 8 bytes is read once, and each time that a kernel has written it.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program experts
// RUN: %ledger stats.json 'device_to_host_copy % K == 5*8' 'host_mapped_launches == 0'
//   Longer arrays: 16384 ends, of other rows in each step.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program rows
// RUN: %ledger stats.json 'device_to_host_copy <= 12*M' 'host_mapped_launches == 0'
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int N = 1 << 18, Experts = 16, Used = 2, Rounds = 12;
constexpr int Rows = 1 << 14, Row = N / Rows;

__global__ void fill(int *data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
}

__global__ void choose(int *ids, int round) {
  ids[threadIdx.x] = (round * 5 + threadIdx.x * 7) % Experts;
}

__global__ void apply(int *out, const int *weights, const int *ids) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[blockIdx.y * N + i] = weights[ids[blockIdx.y] * N + i] ^ 0x55;
}

// A block for each row, of which `ends` says where it ends.
__global__ void sums(int *out, const int *values, const int *ends) {
  const int end = ends[blockIdx.x];
  out[blockIdx.x * Row + threadIdx.x] = values[end - Row + threadIdx.x] + 1;
}

static void experts(int *weights, int *out) {
  int *ids;
  CHECK(cudaMalloc(&ids, Used * sizeof(int)));
  bool right = true;
  std::vector<int> host(Used * N);
  for (int round = 0; round < Rounds; ++round) {
    if (round % 3 == 2) {
      choose<<<1, Used>>>(ids, round);
    } else {
      int *chosen = new int[Used];
      for (int y = 0; y < Used; ++y)
        chosen[y] = (round * 5 + y * 7) % Experts;
      CHECK(cudaMemcpyAsync(ids, chosen, Used * sizeof(int),
                            cudaMemcpyHostToDevice));
      memset(chosen, -1, Used * sizeof(int));
      delete[] chosen;
    }
    apply<<<dim3(N / 256, Used), 256>>>(out, weights, ids);
    CHECK(cudaMemcpy(host.data(), out, Used * N * sizeof(int),
                     cudaMemcpyDeviceToHost));
    for (int i = 0; i < Used * N; ++i)
      right &=
          host[i] == ((((round * 5 + i / N * 7) % Experts) * N + i % N) ^ 0x55);
  }
  CHECK(cudaFree(ids));
  printf("experts %s\n", right ? "right" : "WRONG");
}

static void rows(int *values, int *out) {
  int *ends;
  CHECK(cudaMalloc(&ends, Rows * sizeof(int)));
  bool right = true;
  std::vector<int> host(N);
  for (int round = 0; round < Rounds; ++round) {
    const int first = (round * 5) % Experts * N;
    {
      std::vector<int> computed(Rows);
      for (int row = 0; row < Rows; ++row)
        computed[row] = first + (row + 1) * Row;
      CHECK(cudaMemcpy(ends, computed.data(), Rows * sizeof(int),
                       cudaMemcpyHostToDevice));
    }
    sums<<<Rows, Row>>>(out, values, ends);
    CHECK(
        cudaMemcpy(host.data(), out, N * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i)
      right &= host[i] == first + i + 1;
  }
  CHECK(cudaFree(ends));
  printf("rows %s\n", right ? "right" : "WRONG");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "both";
  int *weights, *out;
  CHECK(cudaMalloc(&weights, Experts * N * sizeof(int)));
  CHECK(cudaMalloc(&out, Used * N * sizeof(int)));
  fill<<<Experts * N / 256, 256>>>(weights);
  if (strcmp(what, "rows") != 0)
    experts(weights, out);
  if (strcmp(what, "experts") != 0)
    rows(weights, out);
  CHECK(cudaFree(weights));
  CHECK(cudaFree(out));
  return 0;
}
