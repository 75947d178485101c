// Values that only one lane has set are broadcast to its warp: the other lanes hand on what they have, which is no value at all.
// RUN: %conforms %s
#include "conformance.h"
#include <vector>

constexpr int Items = 100, Threads = 128, Blocks = 3;

__device__ int nextItem;

/// Each warp takes items until there are none.
__global__ void take(int *takers) {
  const int lane = threadIdx.x % 32;
  for (;;) {
    int item;
    if (lane == 0)
      item = atomicAdd(&nextItem, 1);
    item = __shfl_sync(0xffffffff, item, 0);
    if (item >= Items)
      break;
    atomicAdd(&takers[item], lane == 0 ? 1000 : 1);
  }
}

__device__ __noinline__ bool handOn(bool value) {
  return __shfl_sync(0xffffffff, value, 5);
}

/// By a function, and of a type that has two values only.
__global__ void tell(int *told) {
  bool isEven;
  if (threadIdx.x % 32 == 5)
    isEven = atomicAdd(&told[Threads], 1) >= 0 && blockIdx.x % 2 == 0;
  told[threadIdx.x] = handOn(isEven) ? 2 : 1;
}

int main() {
  int *device;
  CHECK(cudaMalloc(&device, (Threads + 1) * sizeof(int)));
  CHECK(cudaMemset(device, 0, (Threads + 1) * sizeof(int)));
  take<<<Blocks, Threads>>>(device);
  std::vector<int> host(Threads + 1);
  CHECK(cudaMemcpy(host.data(), device, Items * sizeof(int),
                   cudaMemcpyDeviceToHost));
  for (int i = 0; i < Items; ++i)
    REQUIRE(host[i] == 1000 + 31);
  int next;
  CHECK(cudaMemcpyFromSymbol(&next, nextItem, sizeof(int)));
  REQUIRE(next == Items + Blocks * Threads / 32);

  CHECK(cudaMemset(device, 0, (Threads + 1) * sizeof(int)));
  tell<<<1, Threads>>>(device);
  CHECK(cudaMemcpy(host.data(), device, (Threads + 1) * sizeof(int),
                   cudaMemcpyDeviceToHost));
  for (int i = 0; i < Threads; ++i)
    REQUIRE(host[i] == 2);
  REQUIRE(host[Threads] == Threads / 32);
  return 0;
}
