// clock, clock64, globaltimer and __nanosleep.
// RUN: %conforms %s
#include "conformance.h"

__global__ void measure(long long *out) {
  long long begin = clock64();
  clock_t early = clock();
  unsigned long long from, to;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
  for (int i = 0; i < 20; ++i)
    __nanosleep(1000);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to));
  out[0] = clock64() - begin;
  out[1] = clock() != early;
  out[2] = to >= from;
}

int main() {
  long long *out = onDevice<long long>(3);
  measure<<<1, 1>>>(out);
  auto h = fetch(out, 3);
  REQUIRE(h[0] > 0 && h[1] && h[2]);
  return 0;
}
