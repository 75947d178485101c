// Eight-bit floating point: conversions of e4m3 and e5m2.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_fp8.h>

__global__ void numbers(float *out) {
  __nv_fp8_e4m3 a(1.75f), b(1000.0f), c(0.001953125f);
  __nv_fp8_e5m2 d(-3.0f), e(57344.0f);
  out[0] = float(a), out[1] = float(b), out[2] = float(c);
  out[3] = float(d), out[4] = float(e);
  __nv_fp8x2_e4m3 pair(make_float2(2, -4));
  float2 both = float2(pair);
  out[5] = both.x + 10 * both.y;
}

int main() {
  float *out = onDevice<float>(6);
  numbers<<<1, 1>>>(out);
  auto h = fetch(out, 6);
  REQUIRE(h[0] == 1.75f && h[1] == 448 && h[2] == 0.001953125f);
  REQUIRE(h[3] == -3 && h[4] == 57344 && h[5] == -38);
  REQUIRE(float(__nv_fp8_e4m3(0.3f)) == 0.3125f);
  return 0;
}
