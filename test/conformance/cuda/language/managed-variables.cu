// __managed__ variables: the host and kernels use the same name.
// RUN: %conforms %s
#include "conformance.h"

__device__ __managed__ int Counter = 5;
__managed__ float Values[100];

__global__ void change() {
  atomicAdd(&Counter, 1);
  Values[threadIdx.x] *= 2;
}

int main() {
  REQUIRE(Counter == 5);
  for (int i = 0; i < 100; ++i)
    Values[i] = i;
  Counter += 10;
  change<<<1, 100>>>();
  CHECK(cudaDeviceSynchronize());
  REQUIRE(Counter == 115);
  for (int i = 0; i < 100; ++i)
    REQUIRE(Values[i] == 2 * i);
  float *address = Values + 3;
  *address = -1;
  change<<<1, 100>>>();
  CHECK(cudaDeviceSynchronize());
  REQUIRE(Values[3] == -2);
  return 0;
}
