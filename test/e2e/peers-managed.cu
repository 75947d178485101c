// Peers cannot have managed memory, which the host accesses: what a kernel reads anywhere stays where there is room for it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program > expected
// Seven chunks of managed memory, of which three fit in host memory; the device's memory is full of the other buffer when the kernel comes.
// RUN: %strict DRAGON_CPU_DEVICES=3 DRAGON_PEERS=auto DRAGON_PEER_MEMORY=768K DRAGON_DEVICE_MEMORY=2M DRAGON_HOST_MEMORY=1M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=some.json ./program > some
// RUN: cmp expected some
// RUN: %ledger some.json 'host_mapped_launches == 2' 'device_to_peer > 0'
// RUN: rm -rf %t.dir
#include "e2e.h"

static const int Chunk = 1 << 16; // words
static const int N = 6 * Chunk, Managed = 7 * Chunk;
static const int Walks = 1 << 10;

__global__ void fill(int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = i * 3 + 1;
}

__global__ void walk(int *out, const int *next, const int *values, int steps,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int at = i, sum = 0;
  for (int step = 0; step < steps; ++step) {
    at = next[at];
    sum += values[at % N];
  }
  out[i] = sum;
}

int main() {
  int *next, *values, *out;
  CHECK(cudaMallocManaged(&next, Managed * sizeof(int)));
  CHECK(cudaMalloc(&values, N * sizeof(int)));
  CHECK(cudaMalloc(&out, Walks * sizeof(int)));
  for (int i = 0; i < Managed; ++i)
    next[i] = int((unsigned(i) * 40503u + 12345u) % unsigned(Managed));
  fill<<<N / 128, 128>>>(values, N);
  CHECK(cudaDeviceSynchronize());
  std::vector<int> got(Walks);
  for (int steps : {7, 20}) {
    walk<<<Walks / 128, 128>>>(out, next, values, steps, Walks);
    CHECK(cudaMemcpy(got.data(), out, Walks * sizeof(int),
                     cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int value : got)
      sum = sum * 31 + unsigned(value);
    std::printf("%u\n", sum);
  }
  CHECK(cudaFree(next));
  CHECK(cudaFree(values));
  CHECK(cudaFree(out));
  return 0;
}
