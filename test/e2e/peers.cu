// Memory of other devices takes what leaves the program's own, before host memory does. Kernels find their data there as well, slices,
// gathers and atomic sums among them, and so do copies and files.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program > expected
// Everything fits on the device and its peers: nothing of what leaves goes to the host.
// RUN: %strict DRAGON_CPU_DEVICES=4 DRAGON_PEERS=auto DRAGON_DEVICE_MEMORY=4M DRAGON_CHUNK_SIZE=256K DRAGON_ELIDE=0 DRAGON_STATS=all.json ./program > all
// RUN: cmp expected all
// RUN: %ledger all.json 'device_to_peer_eviction > 4*M' 'peer_to_device > 4*M' 'device_to_host_eviction == 0' 'host_to_swap == 0'
// One peer with little memory: the host takes the rest.
// RUN: %strict DRAGON_CPU_DEVICES=2 DRAGON_PEERS=1 DRAGON_PEER_MEMORY=1M DRAGON_DEVICE_MEMORY=2M DRAGON_CHUNK_SIZE=256K DRAGON_HOST_MEMORY=8M DRAGON_STATS=one.json ./program > one
// RUN: cmp expected one
// RUN: %ledger one.json 'device_to_peer > 0' 'peer_to_device > 0' 'device_to_host > 0'
// Without being asked for, peers are left alone.
// RUN: %strict DRAGON_CPU_DEVICES=2 DRAGON_DEVICE_MEMORY=2M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=none.json ./program > none
// RUN: cmp expected none
// RUN: %ledger none.json 'device_to_peer == 0' 'host_to_peer == 0'
// RUN: not env DRAGON_BACKEND=cpu DRAGON_CPU_DEVICES=2 DRAGON_PEERS=2 ./program 2>&1 | FileCheck %s
// CHECK: DRAGON_PEERS names device 2: there are 0 to 1
// RUN: rm -rf %t.dir
#include "e2e.h"

static const int N = 1 << 19; // 2 MiB of words

__global__ void add(int *c, const int *a, const int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}
__global__ void gather(int *out, const int *in, const int *index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[index[i]] + out[i];
}
__global__ void count(unsigned *bins, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[unsigned(in[i]) % 1024], 1u);
}

static unsigned sum(const std::vector<int> &words) {
  unsigned value = 0;
  for (int word : words)
    value = value * 31 + unsigned(word);
  return value;
}

int main() {
  std::vector<int> host(N), got(N);
  int *a, *b, *c, *d, *index;
  unsigned *bins;
  for (int **buffer : {&a, &b, &c, &d, &index})
    CHECK(cudaMalloc(buffer, N * sizeof(int)));
  CHECK(cudaMalloc(&bins, 1024 * sizeof(unsigned)));
  CHECK(cudaMemset(bins, 0, 1024 * sizeof(unsigned)));
  CHECK(cudaMemset(d, 0, N * sizeof(int)));
  for (int i = 0; i < N; ++i)
    host[i] = i * 7 + 1;
  CHECK(cudaMemcpy(a, host.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  for (int i = 0; i < N; ++i)
    host[i] = i ^ 0x5555;
  CHECK(cudaMemcpy(b, host.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  for (int i = 0; i < N; ++i)
    host[i] = int((unsigned(i) * 40503u) % unsigned(N));
  CHECK(
      cudaMemcpy(index, host.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  const int blocks = N / 256;
  for (int round = 0; round < 3; ++round) {
    add<<<blocks, 256>>>(c, a, b, N);
    gather<<<blocks, 256>>>(d, c, index, N);
    count<<<blocks, 256>>>(bins, d, N);
    add<<<blocks, 256>>>(a, c, d, N);
    CHECK(cudaGetLastError());
    // A part of what may be on a peer, in and out.
    CHECK(cudaMemcpy(b + 1000, host.data(), 5000 * sizeof(int),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(got.data(), c + N / 2, 7000 * sizeof(int),
                     cudaMemcpyDeviceToHost));
    std::printf("%u\n", sum(got));
    CHECK(cudaMemcpy(index, d, N / 2 * sizeof(int), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(index, host.data(), N * sizeof(int),
                     cudaMemcpyHostToDevice));
  }
  for (int *buffer : {a, b, c, d}) {
    CHECK(cudaMemcpy(got.data(), buffer, N * sizeof(int),
                     cudaMemcpyDeviceToHost));
    std::printf("%u\n", sum(got));
  }
  std::vector<unsigned> counted(1024);
  CHECK(cudaMemcpy(counted.data(), bins, 1024 * sizeof(unsigned),
                   cudaMemcpyDeviceToHost));
  unsigned all = 0;
  for (unsigned bin : counted)
    all = all * 31 + bin;
  std::printf("%u\n", all);
  for (int *buffer : {a, b, c, d, index})
    CHECK(cudaFree(buffer));
  CHECK(cudaFree(bins));
  return 0;
}
