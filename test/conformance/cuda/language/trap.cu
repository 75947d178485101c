// __trap ends the kernel with an error.
// RUN: %conforms %s
#include "conformance.h"

__global__ void stop(int value) {
  if (value > 3)
    __trap();
}

int main() {
  stop<<<1, 1>>>(3);
  CHECK(cudaDeviceSynchronize());
  stop<<<1, 1>>>(4);
  cudaError_t status = cudaDeviceSynchronize();
  REQUIRE(status == cudaErrorLaunchFailure ||
          status == cudaErrorIllegalInstruction);
  return 0;
}
