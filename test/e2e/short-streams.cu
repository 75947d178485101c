// Host threads that make a stream for each round and destroy it when its launches are done, while the launches of the others wait
// to run together: a stream is done when its own launches have run, not when somebody has begun to submit them.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %build %s -o program -lpthread
// RUN: %plain ./program && %roomy ./program && %roomy DRAGON_WAVEFRONT=always ./program && %roomy DRAGON_WAVEFRONT=off ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <thread>

constexpr int N = 6 << 18; // 6 MiB
constexpr size_t Bytes = N * sizeof(uint32_t);
constexpr int Rounds = 3, Steps = 3;

__global__ void fill(uint32_t *data, uint32_t first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i + first;
}

__global__ void step(uint32_t *to, const uint32_t *from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] * 3 + 1;
}

static void work(uint32_t thread) {
  uint32_t *data[2];
  for (uint32_t *&d : data)
    CHECK(cudaMalloc(&d, Bytes));
  std::vector<uint32_t> results(N);
  for (uint32_t round = 0; round < Rounds; ++round) {
    const uint32_t first = thread * 1000 + round;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    fill<<<N / 256, 256, 0, stream>>>(data[0], first);
    for (int s = 0; s < Steps; ++s)
      step<<<N / 256, 256, 0, stream>>>(data[(s + 1) % 2], data[s % 2]);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaMemcpy(results.data(), data[Steps % 2], Bytes,
                     cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < N; ++i)
      REQUIRE(results[i] == (i + first) * 27 + 13);
  }
  for (uint32_t *d : data)
    CHECK(cudaFree(d));
}

int main() {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  return 0;
}
