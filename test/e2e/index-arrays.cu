// Where a kernel goes is written in small arrays in device memory, which kernels in front of it fill: experts of a token, rows of a
// cache, a table of blocks that another array chooses from. What they lead to comes to the device, and nothing else; a kernel that
// writes its own array, and arrays that other streams fill, are right as well.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: ./program all | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K ./program all | FileCheck %s
// CHECK: experts right
// CHECK: rows right
// CHECK: blocks right
// CHECK: own right
//
//   Twelve times two experts of 1 MiB, of sixteen: all sixteen do not fit. Each buffer of 16 MiB leaves the device once.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program experts
// RUN: %ledger stats.json 'host_to_device <= 25*M' 'host_mapped_launches == 0'
//   In chunks of 2 MiB, of which a half comes alone.
// RUN: env DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program experts
// RUN: %ledger stats.json 'host_to_device <= 14*M' 'host_mapped_launches == 0'
//   Forty rows of 64 KiB, each in a chunk of its own, which comes and goes.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program rows
// RUN: %ledger stats.json 'host_to_device <= 11*M' 'device_to_host <= 45*M' 'host_mapped_launches == 0'
//   Sixteen blocks of 1 MiB.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program blocks
// RUN: %ledger stats.json 'host_to_device <= 17*M' 'host_mapped_launches == 0'
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int N = 1 << 18, Experts = 16, Used = 2, Rounds = 12;
constexpr int Row = 1 << 14, Rows = Experts * N / Row;

__global__ void fill(int *data, int base) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = base + i;
}

__global__ void choose(int *ids, int round) {
  ids[threadIdx.x] = (round * 5 + threadIdx.x * 7) % Experts;
}

// `ids` may be null: the experts in their order.
__global__ void apply(int *out, const int *weights, const int *ids, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int expert = ids ? ids[blockIdx.y] : blockIdx.y;
  out[blockIdx.y * size + i] = weights[expert * size + i] ^ 0x55;
}

__global__ void append(int *cache, const long long *rows, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cache[rows[blockIdx.y] * Row + i] = value + i;
}

__global__ void setRow(long long *rows, int which) {
  rows[0] = (which * 13) % Rows;
}

__global__ void gather(int *out, const int *table, const unsigned *blocks,
                       const unsigned short *which, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[(size_t)blocks[which[0]] * size + i];
}

__global__ void fillBlocks(unsigned *blocks, unsigned short *which,
                           int chosen) {
  blocks[threadIdx.x] = (threadIdx.x * 3 + 1) % Experts;
  if (threadIdx.x == 0)
    which[0] = chosen;
}

// Each block takes the number that the one before has left.
__global__ void ownArray(int *out, const int *weights, int *ids, int size) {
  for (int turn = 0; turn < 3; ++turn) {
    const int expert = ids[0];
    for (int i = threadIdx.x; i < size; i += blockDim.x)
      out[turn * size + i] = weights[expert * size + i];
    __syncthreads();
    if (threadIdx.x == 0)
      ids[0] = (expert + 6) % Experts;
    __syncthreads();
  }
}

static bool same(const int *device, int count, int base, int flip) {
  std::vector<int> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(int),
                   cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i)
    if (host[i] != ((base + i) ^ flip))
      return false;
  return true;
}

static void experts(int *weights, int *out) {
  int *ids;
  CHECK(cudaMalloc(&ids, Used * sizeof(int)));
  cudaStream_t other;
  cudaEvent_t chosen;
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaEventCreate(&chosen));
  bool right = true;
  for (int round = 0; round < Rounds; ++round) {
    const bool elsewhere = round % 3 == 2;
    choose<<<1, Used, 0, elsewhere ? other : nullptr>>>(ids, round);
    if (elsewhere) {
      CHECK(cudaEventRecord(chosen, other));
      CHECK(cudaStreamWaitEvent(nullptr, chosen));
    }
    apply<<<dim3(N / 256, Used), 256>>>(out, weights, ids, N);
    for (int y = 0; y < Used; ++y)
      right &= same(out + y * N, N, (round * 5 + y * 7) % Experts * N, 0x55);
  }
  CHECK(cudaStreamDestroy(other));
  CHECK(cudaEventDestroy(chosen));
  CHECK(cudaFree(ids));
  apply<<<dim3(N / 256, Used), 256>>>(out, weights, nullptr, N);
  right &= same(out, Used * N, 0, 0x55);
  printf("experts %s\n", right ? "right" : "WRONG");
}

static void rows(int *cache, int *other) {
  long long *rows;
  CHECK(cudaMalloc(&rows, sizeof(*rows)));
  constexpr int Appended = 40;
  for (int k = 0; k < Appended; ++k) {
    setRow<<<1, 1>>>(rows, k);
    append<<<dim3(Row / 256, 1), 256>>>(cache, rows, -1000 * k);
  }
  CHECK(cudaFree(rows));
  bool right = true;
  for (int k = 0; k < Appended; ++k)
    right &= same(cache + (k * 13) % Rows * Row, Row, -1000 * k, 0);
  right &= same(cache + 14 * Row, Row, 14 * Row, 0);
  right &= same(other, N, 0, 0);
  printf("rows %s\n", right ? "right" : "WRONG");
}

static void blocks(int *table, int *out) {
  unsigned *blocks;
  unsigned short *which;
  CHECK(cudaMalloc(&blocks, Experts * sizeof(*blocks)));
  CHECK(cudaMalloc(&which, sizeof(*which)));
  bool right = true;
  for (int k = 0; k < Experts; ++k) {
    fillBlocks<<<1, Experts>>>(blocks, which, k);
    gather<<<N / 256, 256>>>(out, table, blocks, which, N);
    right &= same(out, N, (k * 3 + 1) % Experts * N, 0);
  }
  CHECK(cudaFree(blocks));
  CHECK(cudaFree(which));
  printf("blocks %s\n", right ? "right" : "WRONG");
}

static void own(int *weights, int *out) {
  int *ids;
  CHECK(cudaMalloc(&ids, sizeof(int)));
  bool right = true;
  for (int k = 0; k < 3; ++k) {
    CHECK(cudaMemcpy(ids, &k, sizeof(int), cudaMemcpyHostToDevice));
    ownArray<<<1, 256>>>(out, weights, ids, N);
    for (int turn = 0; turn < 3; ++turn)
      right &= same(out + turn * N, N, (k + turn * 6) % Experts * N, 0);
  }
  CHECK(cudaFree(ids));
  printf("own %s\n", right ? "right" : "WRONG");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "all";
  auto wanted = [what](const char *name) {
    return !strcmp(what, "all") || !strcmp(what, name);
  };
  int *data, *out;
  CHECK(cudaMalloc(&data, sizeof(int) * Experts * N));
  CHECK(cudaMalloc(&out, sizeof(int) * 3 * N));
  for (auto test : {experts, rows, blocks, own}) {
    const char *name = test == experts  ? "experts"
                       : test == rows   ? "rows"
                       : test == blocks ? "blocks"
                                        : "own";
    if (!wanted(name))
      continue;
    fill<<<Experts * N / 256, 256>>>(data, 0);
    fill<<<3 * N / 256, 256>>>(out, 0);
    test(data, out);
  }
  CHECK(cudaFree(data));
  CHECK(cudaFree(out));
}
