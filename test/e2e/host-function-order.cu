// Work in a stream comes behind the host functions of the legacy default
// stream, but for non-blocking streams; a synchronisation waits for its own
// stream's.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program && %tight ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <atomic>
#include <chrono>
#include <thread>

__global__ void addOne(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 1;
}

const int N = 1 << 16;
static std::atomic<bool> opened{false};

/// Not before somebody opens it.
static void fill(void *memory) {
  while (!opened)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::fill_n((uint32_t *)memory, N, 41u);
}

static void openSoon() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    opened = true;
  }).detach();
}

int main() {
  uint32_t *h, *d;
  CHECK(cudaMallocHost(&h, N * 4));
  CHECK(cudaMalloc(&d, N * 4));
  std::vector<uint32_t> result(N);
  cudaStream_t blocking, other;
  CHECK(cudaStreamCreate(&blocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));

  // Nothing of the default stream keeps these back: else this would never end.
  std::fill_n(h, N, 0u);
  CHECK(cudaLaunchHostFunc(0, fill, h));
  CHECK(cudaMemsetAsync(d, 0, N * 4, other));
  CHECK(cudaStreamSynchronize(other));
  CHECK(cudaStreamSynchronize(blocking));
  REQUIRE(cudaStreamQuery(blocking) == cudaSuccess);
  REQUIRE(cudaStreamQuery(0) == cudaErrorNotReady);
  openSoon();
  addOne<<<(N + 255) / 256, 256, 0, blocking>>>(h, d, N);
  CHECK(cudaMemcpyAsync(result.data(), d, N * 4, cudaMemcpyDeviceToHost,
                        blocking));
  CHECK(cudaStreamSynchronize(blocking));
  for (uint32_t value : result)
    REQUIRE(value == 42);

  // A copy, by the default stream's handle.
  opened = false;
  std::fill_n(h, N, 0u);
  CHECK(cudaLaunchHostFunc(cudaStreamLegacy, fill, h));
  openSoon();
  CHECK(cudaMemcpyAsync(d, h, N * 4, cudaMemcpyHostToDevice, blocking));
  CHECK(cudaMemcpy(result.data(), d, N * 4, cudaMemcpyDeviceToHost));
  for (uint32_t value : result)
    REQUIRE(value == 41);
  return 0;
}
