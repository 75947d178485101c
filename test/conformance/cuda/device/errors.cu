// Errors: the last one and its disappearance, names, launches that are refused.
// RUN: %conforms %s
#include "conformance.h"

__global__ void nothing() {}

// The documented error of a shape that no device takes, or what drivers of
// CUDA 13 say.
static bool refusesShape(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ||
         error == cudaErrorInvalidValue;
}

int main() {
  CHECK(cudaGetLastError());
  nothing<<<1, 2048>>>();
  cudaError_t refused = cudaPeekAtLastError();
  REQUIRE(refusesShape(refused));
  REQUIRE(cudaGetLastError() == refused);
  CHECK(cudaGetLastError());
  nothing<<<0, 32>>>();
  REQUIRE(refusesShape(cudaGetLastError()));
  CHECK(cudaGetLastError());
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
  // Which of the two is a matter of the driver.
  cudaError_t unknown = cudaLaunchKernel((const void *)&host, dim3(1), dim3(1),
                                         nullptr, 0, nullptr);
  REQUIRE(unknown == cudaErrorInvalidDeviceFunction ||
          unknown == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaGetLastError() == unknown);
  return 0;
}
