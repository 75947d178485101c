// Relocatable device code: device functions and variables with linkage.
// FLAGS: -rdc=true
// RUN: %conforms %s
#include "conformance.h"

extern __device__ int Shared;
extern __device__ int twice(int x);

__global__ void kernel(int *out) { *out = twice(Shared); }

__device__ int Shared = 21;
__device__ int twice(int x) { return 2 * x; }

int main() {
  int *out = onDevice<int>(1);
  kernel<<<1, 1>>>(out);
  REQUIRE(fetch(out, 1)[0] == 42);
  return 0;
}
