// cudaMallocAsync, cudaFreeAsync and memory pools: order within a stream, pools
// of the program's own, attributes.
// RUN: %conforms %s
#include "conformance.h"

__global__ void put(int *data, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = value + i;
}

int main() {
  const int n = 4000;
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  REQUIRE(supported == 1);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  std::vector<int> h(n);
  for (int round = 0; round < 3; ++round) {
    int *data;
    CHECK(cudaMallocAsync(&data, n * sizeof(int), stream));
    put<<<16, 256, 0, stream>>>(data, n, round);
    CHECK(cudaMemcpyAsync(h.data(), data, n * sizeof(int),
                          cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(h[0] == round && h[n - 1] == round + n - 1);
  }
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool, standard, current;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  uint64_t threshold = ~uint64_t(0), got = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                                &threshold));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  REQUIRE(got == threshold);
  int *data;
  CHECK(cudaMallocFromPoolAsync(&data, n * sizeof(int), pool, stream));
  put<<<16, 256, 0, stream>>>(data, n, 9);
  CHECK(cudaMemcpyAsync(h.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost,
                        stream));
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(h[5] == 14);
  CHECK(cudaFreeAsync(data, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
  CHECK(cudaDeviceGetMemPool(&current, 0));
  REQUIRE(standard == current);
  CHECK(cudaDeviceSetMemPool(0, pool));
  CHECK(cudaDeviceGetMemPool(&current, 0));
  REQUIRE(current == pool);
  CHECK(cudaDeviceSetMemPool(0, standard));
  CHECK(cudaMemPoolDestroy(pool));
  return 0;
}
