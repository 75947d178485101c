// __shfl_sync and its forms: widths, types of 4 and 8 bytes, masks.
// RUN: %conforms %s
#include "conformance.h"

__global__ void shuffle(int *out, double *doubles) {
  int t = threadIdx.x;
  out[t] = __shfl_sync(~0u, t * 3, 5);
  out[32 + t] = __shfl_sync(~0u, t * 3, 2, 8);
  out[64 + t] = __shfl_up_sync(~0u, t, 3);
  out[96 + t] = __shfl_down_sync(~0u, t, 4, 16);
  out[128 + t] = __shfl_xor_sync(~0u, t, 9);
  if (t < 16)
    out[160 + t] = __shfl_sync(0xffff, t, 15 - t);
  doubles[t] = __shfl_sync(~0u, t + 0.5, 31 - t);
  doubles[32 + t] = (double)__shfl_down_sync(~0u, (long long)t << 40, 1);
}

int main() {
  int *out = onDevice<int>(192);
  double *doubles = onDevice<double>(64);
  shuffle<<<1, 32>>>(out, doubles);
  auto h = fetch(out, 192);
  auto d = fetch(doubles, 64);
  for (int t = 0; t < 32; ++t) {
    REQUIRE(h[t] == 15 && h[32 + t] == (t / 8 * 8 + 2) * 3);
    REQUIRE(h[64 + t] == (t < 3 ? t : t - 3));
    REQUIRE(h[96 + t] == (t % 16 < 12 ? t + 4 : t));
    REQUIRE(h[128 + t] == (t ^ 9));
    if (t < 16)
      REQUIRE(h[160 + t] == 15 - t);
    REQUIRE(d[t] == 31 - t + 0.5);
    REQUIRE(d[32 + t] == double((long long)(t < 31 ? t + 1 : 31) << 40));
  }
  return 0;
}
