// Memory that is freed and allocated again in loops, in the order of streams and of the host, of few sizes and of many: what
// queued work still uses is not given to others.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program > plain.txt && %tight ./program > tight.txt && diff plain.txt tight.txt
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void fill(uint32_t *data, uint32_t n, uint32_t seed) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    data[i] = i * 2654435761u + seed;
}

/// sums[0] becomes the sum of the words.
__global__ void sum(const uint32_t *data, uint32_t n, uint32_t *sums) {
  uint32_t own = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    own += data[i];
  atomicAdd(sums, own);
}

uint32_t expected(uint32_t n, uint32_t seed) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < n; ++i)
    all += i * 2654435761u + seed;
  return all;
}

const int Streams = 3, Rounds = 12;

int main() {
  cudaStream_t streams[Streams];
  for (cudaStream_t &stream : streams)
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  uint32_t *sums;
  CHECK(cudaMalloc(&sums, Streams * Rounds * 4));
  CHECK(cudaMemset(sums, 0, Streams * Rounds * 4));
  CHECK(cudaDeviceSynchronize());
  uint32_t sizes[Streams * Rounds];
  for (int round = 0; round < Rounds; ++round)
    for (int s = 0; s < Streams; ++s) {
      const int k = round * Streams + s;
      // Large and small ones, some of which come again.
      const uint32_t n = round % 3 == 0 ? 1000 : (1 + round % 2) << 19;
      sizes[k] = n;
      uint32_t *data;
      CHECK(cudaMallocAsync((void **)&data, n * 4, streams[s]));
      fill<<<64, 256, 0, streams[s]>>>(data, n, k);
      sum<<<64, 256, 0, streams[s]>>>(data, n, sums + k);
      CHECK(cudaFreeAsync(data, streams[s]));
      // In the host's order, beside what the streams do.
      uint32_t *other;
      CHECK(cudaMalloc(&other, n * 4));
      CHECK(cudaMemset(other, 0xff, n * 4));
      CHECK(cudaFree(other));
      if (round == Rounds / 2) { // a new one, perhaps of the same name
        CHECK(cudaStreamDestroy(streams[s]));
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
      }
    }
  CHECK(cudaDeviceSynchronize());
  uint32_t found[Streams * Rounds];
  CHECK(cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost));
  for (int k = 0; k < Streams * Rounds; ++k) {
    REQUIRE(found[k] == expected(sizes[k], k));
    printf("%u\n", found[k]);
  }
  CHECK(cudaFree(sums));
  return 0;
}
