// cudaMalloc, cudaFree, cudaMemGetInfo: alignment, nothing, what is refused.
// RUN: %conforms %s
#include "conformance.h"

__global__ void count(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] += i;
}

int main() {
  int *a, *b;
  CHECK(cudaMalloc(&a, 1000 * sizeof(int)));
  CHECK(cudaMalloc(&b, 4));
  REQUIRE(a != b && uintptr_t(a) % 256 == 0 && uintptr_t(b) % 256 == 0);
  CHECK(cudaMemset(a, 0, 1000 * sizeof(int)));
  count<<<4, 256>>>(a, 1000);
  CHECK(cudaGetLastError());
  std::vector<int> h = fetch(a, 1000);
  for (int i = 0; i < 1000; ++i)
    REQUIRE(h[i] == i);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(nullptr));
  void *none = &h;
  CHECK(cudaMalloc(&none, 0));
  REQUIRE(none == nullptr);
  REFUSED(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 16));
  REFUSED(cudaErrorMemoryAllocation, cudaMalloc(&none, size_t(1) << 60));
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  REQUIRE(free > 0 && free <= total);
  return 0;
}
