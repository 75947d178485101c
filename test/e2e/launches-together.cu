// Time steps on four times the device's memory run together, slice by slice: they move a fraction of what they move one by one,
// and give the same. A kernel that uses a device variable keeps its place in the order of launches; what a launch overwrites of
// what an earlier one still has to read waits for it; so does whoever looks.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon 2>&1 | FileCheck %s
// RUN: %plain ./program > plain.txt
// RUN: %roomy DRAGON_WAVEFRONT=off DRAGON_STATS=off.json ./program > off.txt && diff plain.txt off.txt
// RUN: %roomy DRAGON_STATS=auto.json ./program > auto.txt && diff plain.txt auto.txt
// RUN: %tight DRAGON_WAVEFRONT=always ./program > always.txt && diff plain.txt always.txt
// RUN: %ledger off.json 'launches == 32' 'launches_together == 0' 'cpu: host_to_device > 600*M'
// RUN: %ledger auto.json 'launches == 32' 'launches_together >= 16' 'cpu: host_to_device < 450*M'
// RUN: rm -rf %t.dir
//
// CHECK: remark: launch of 'step' may run together with the next, of 'step'
#include "e2e.h"

#ifndef WORDS // of a buffer
#define WORDS (8 << 20)
#endif
const int Count = WORDS;

__device__ uint32_t total;

__global__ void step(const uint32_t *from, uint32_t *to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < Count)
    to[i] = 3 * from[i] + from[i ? i - 1 : 0] + from[i < Count - 1 ? i + 1 : i];
}

// Reads at the other end than it writes.
__global__ void mirror(const uint32_t *from, uint32_t *to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < Count)
    to[i] = from[Count - 1 - i];
}

__global__ void sum(const uint32_t *from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < Count && i % 4096 == 0)
    atomicAdd(&total, from[i]);
}

// Adds what has been summed up so far.
__global__ void shift(uint32_t *at) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < Count)
    at[i] += total;
}

static uint32_t hashOf(const std::vector<uint32_t> &words) {
  uint32_t hash = 1;
  for (uint32_t word : words)
    hash = 31 * hash + word;
  return hash;
}

int main() {
  std::vector<uint32_t> words(Count);
  for (int i = 0; i < Count; ++i)
    words[i] = 2654435761u * i;
  const size_t bytes = words.size() * sizeof(uint32_t);
  uint32_t *a, *b;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemcpy(a, words.data(), bytes, cudaMemcpyHostToDevice));
  const int threads = 256, blocks = Count / threads;
  for (int i = 0; i < 22; ++i) {
    step<<<blocks, threads>>>(a, b);
    CHECK(cudaGetLastError());
    std::swap(a, b);
  }
  for (int i = 0; i < 3; ++i) {
    mirror<<<blocks, threads>>>(a, b);
    step<<<blocks, threads>>>(b, a);
  }
  sum<<<blocks, threads>>>(a);
  shift<<<blocks, threads>>>(a);
  sum<<<blocks, threads>>>(a);
  step<<<blocks, threads>>>(a, b);
  uint32_t summed;
  CHECK(cudaMemcpyFromSymbol(&summed, total, sizeof(summed)));
  CHECK(cudaMemcpy(words.data(), b, bytes, cudaMemcpyDeviceToHost));
  printf("%08x %08x\n", summed, hashOf(words));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}
