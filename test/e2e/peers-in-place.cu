// What a kernel reads anywhere, and has only in the program's memory yet, goes to peers: there the kernel reaches it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program > expected
// RUN: %strict DRAGON_CPU_DEVICES=4 DRAGON_PEERS=auto DRAGON_DEVICE_MEMORY=2M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=all.json ./program > all
// RUN: cmp expected all
// RUN: %ledger all.json 'host_mapped_launches == 2' 'paged_launches == 0' 'host_to_peer_demand > 2*M' 'device_to_peer_eviction == 0'
// Where there is no room for all of it, the rest is fetched by pages as without peers.
// RUN: %strict DRAGON_CPU_DEVICES=2 DRAGON_PEERS=auto DRAGON_PEER_MEMORY=1M DRAGON_DEVICE_MEMORY=2M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=some.json ./program > some
// RUN: cmp expected some
// RUN: %ledger some.json 'paged_launches == 2'
// RUN: rm -rf %t.dir
#include "e2e.h"

static const int N = 1 << 20; // 4 MiB of words
static const int Walks = 1 << 10;

__global__ void walk(int *out, const int *next, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int at = i;
  for (int step = 0; step < steps; ++step)
    at = next[at];
  out[i] = at;
}

int main() {
  std::vector<int> next(N), out(Walks);
  for (int i = 0; i < N; ++i)
    next[i] = int((unsigned(i) * 40503u + 12345u) % unsigned(N));
  int *d_next, *d_out;
  CHECK(cudaMalloc(&d_next, N * sizeof(int)));
  CHECK(cudaMalloc(&d_out, Walks * sizeof(int)));
  CHECK(
      cudaMemcpy(d_next, next.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  for (int steps : {7, 20}) {
    walk<<<Walks / 128, 128>>>(d_out, d_next, steps, Walks);
    CHECK(cudaMemcpy(out.data(), d_out, Walks * sizeof(int),
                     cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int at : out)
      sum = sum * 31 + unsigned(at);
    std::printf("%u\n", sum);
  }
  CHECK(cudaFree(d_next));
  CHECK(cudaFree(d_out));
  return 0;
}
