// Errors: the last one and its disappearance, names, launches that are refused.
// RUN: %conforms %s
#include "conformance.h"

__global__ void nothing() {}

int main() {
  CHECK(cudaGetLastError());
  nothing<<<1, 2048>>>();
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError());
  nothing<<<0, 32>>>();
  REFUSED(cudaErrorInvalidConfiguration, cudaGetLastError());
  nothing<<<1, 32, 1 << 20>>>();
  REFUSED(cudaErrorInvalidValue, cudaGetLastError());
  nothing<<<1, 32>>>();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  REQUIRE(!strcmp(cudaGetErrorName(cudaErrorMemoryAllocation),
                  "cudaErrorMemoryAllocation"));
  REQUIRE(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
  REQUIRE(
      !strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
  int host = 0;
  REFUSED(cudaErrorInvalidDeviceFunction,
          cudaLaunchKernel((const void *)&host, dim3(1), dim3(1), nullptr, 0,
                           nullptr));
  return 0;
}
