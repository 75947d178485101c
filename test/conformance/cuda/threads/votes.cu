// Votes, active masks, lane masks and __syncwarp.
// RUN: %conforms %s
#include "conformance.h"

__global__ void vote(unsigned *out) {
  __shared__ int buffer[32];
  int t = threadIdx.x;
  out[t] = __ballot_sync(~0u, t % 4 == 1);
  out[32 + t] =
      (__any_sync(~0u, t == 9) != 0) * 8 + (__all_sync(~0u, t < 32) != 0) * 4 +
      (__any_sync(~0u, t > 50) != 0) * 2 + (__all_sync(~0u, t < 31) != 0);
  if (t < 8)
    out[64 + t] = __ballot_sync(0xff, t & 1);
  buffer[t] = t * t;
  __syncwarp();
  out[96 + t] = buffer[31 - t];
  unsigned lower, equal;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(equal));
  out[128 + t] = lower + equal;
  out[160 + t] = __activemask();
}

int main() {
  unsigned *out = onDevice<unsigned>(192);
  vote<<<1, 32>>>(out);
  auto h = fetch(out, 192);
  for (unsigned t = 0; t < 32; ++t) {
    REQUIRE(h[t] == 0x22222222 && h[32 + t] == 12);
    if (t < 8)
      REQUIRE(h[64 + t] == 0xaa);
    REQUIRE(h[96 + t] == (31 - t) * (31 - t));
    REQUIRE(h[128 + t] == (2u << t) - 1);
    REQUIRE(h[160 + t] >> t & 1);
  }
  return 0;
}
