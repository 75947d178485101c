// assert in kernels: a condition that holds, and one that does not.
// STDERR: assert.cu:{{[0-9]+}}: {{.*}}Assertion `value < 100` failed
// RUN: %conforms %s
#undef NDEBUG
#include "conformance.h"
#include <cassert>

__global__ void asserting(int value) { assert(value < 100); }

int main() {
  asserting<<<1, 1>>>(99);
  CHECK(cudaDeviceSynchronize());
  asserting<<<1, 1>>>(100);
  REQUIRE(cudaDeviceSynchronize() == cudaErrorAssert);
  return 0;
}
