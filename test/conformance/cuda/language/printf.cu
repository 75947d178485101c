// printf in kernels: conversions, widths, strings, its result.
// OUTPUT: thread 2: -7 ff 3.142 2.5e+10 [  12] [ab   ] c 123456789012 0x10 100%
// OUTPUT: returned 2
// RUN: %conforms %s
#include "conformance.h"

__global__ void talk() {
  if (threadIdx.x == 2) {
    printf("thread %d: %i %x %.3f %.1e [%4d] [%-5s] %c %lld %p %d%%\n",
           (int)threadIdx.x, -7, 255u, 3.14159, 2.5e10f, 12, "ab", 'c',
           123456789012LL, (void *)16, 100);
    int returned = printf("%d %s\n", 1, "x");
    printf("returned %d\n", returned);
  }
}

int main() {
  talk<<<1, 4>>>();
  CHECK(cudaDeviceSynchronize());
  return 0;
}
