// Buffers that would be small beside chunks of 2 MiB are large beside chunks of 64 KiB: each has chunks of its own, and whole contents.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program
// RUN: %plain DRAGON_CHUNK_SIZE=64K ./program
// RUN: %strict DRAGON_CHUNK_SIZE=64K DRAGON_DEVICE_MEMORY=256K DRAGON_HOST_MEMORY=512K ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

constexpr int Count = 4, N = 50000; // 200 kB each

__global__ void add(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] += in[i];
}

int main() {
  int *d[Count];
  std::vector<int> host(N);
  for (int b = 0; b < Count; ++b) {
    CHECK(cudaMalloc(&d[b], N * sizeof(int)));
    for (int i = 0; i < N; ++i)
      host[i] = i * (b + 1);
    CHECK(
        cudaMemcpy(d[b], host.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  }
  for (int b = 1; b < Count; ++b)
    add<<<(N + 127) / 128, 128>>>(d[b - 1], d[b], N);
  CHECK(cudaMemcpy(host.data(), d[Count - 1], N * sizeof(int),
                   cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i)
    REQUIRE(host[i] == i * 10);
  for (int *one : d)
    CHECK(cudaFree(one));
}
