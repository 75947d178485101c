// A kernel that touches no memory of its program: the error, and that it stays.
// RUN: %conforms %s
#include "conformance.h"

__global__ void store(int *where) { *where = 1; }

int main() {
  store<<<1, 1>>>((int *)0x10);
  cudaError_t status = cudaDeviceSynchronize();
  REQUIRE(status == cudaErrorIllegalAddress);
  void *memory;
  REQUIRE(cudaMalloc(&memory, 16) == cudaErrorIllegalAddress);
  return 0;
}
