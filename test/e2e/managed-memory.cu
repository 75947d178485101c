// Managed memory, larger than the device: written by the host, changed by kernels, read and changed by the host, and
// again.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program > plain.txt && %tight ./program > tight.txt && diff plain.txt tight.txt
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void work(uint32_t *data, const uint32_t *other, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i] + other[i]);
}

int main() {
  const int n = 3000001;
  uint32_t *data, *other;
  CHECK(cudaMallocManaged(&data, n * 4));
  CHECK(cudaMallocManaged(&other, n * 4));
  std::vector<uint32_t> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    data[i] = a[i] = i;
    other[i] = b[i] = 3 * i + 1;
  }
  for (int round = 0; round < 3; ++round) {
    work<<<(n + 255) / 256, 256>>>(data, other, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i)
      a[i] = scramble(a[i] + b[i]);
    for (int i = 0; i < n; i += 1000) { // from a few pages only
      data[i] ^= 1;
      a[i] ^= 1;
    }
    memset(other + 1000 * round, 0, 100000);
    memset(b.data() + 1000 * round, 0, 100000);
  }
  REQUIRE(memcmp(data, a.data(), n * 4) == 0);
  REQUIRE(memcmp(other, b.data(), n * 4) == 0);
  // Copies know managed addresses on either side.
  CHECK(cudaMemcpy(a.data(), data + 5, 400000, cudaMemcpyDefault));
  REQUIRE(memcmp(data + 5, a.data(), 400000) == 0);
  printf("%u %u\n", data[n - 1], other[n - 1]);
  CHECK(cudaFree(data));
  CHECK(cudaFree(other));
  return 0;
}
