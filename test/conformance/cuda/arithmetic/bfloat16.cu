// __nv_bfloat16 and __nv_bfloat162: conversions, arithmetic, comparisons.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_bf16.h>

__global__ void numbers(float *out) {
  int i = 0;
  __nv_bfloat16 a = __float2bfloat16(1.5f), b = __float2bfloat16(-0.25f),
                c(3.0f);
  out[i++] = __bfloat162float(__hadd(a, b));
  out[i++] = __bfloat162float(a * b + c);
  out[i++] = __bfloat162float(__hfma(a, c, b));
  out[i++] = __hlt(b, a) + 4 * (a == c) + 8 * (a <= c);
  out[i++] = __bfloat162float(hsqrt(__float2bfloat16(16.0f)));
  __nv_bfloat162 v = __floats2bfloat162_rn(1, 2);
  __nv_bfloat162 s = __hfma2(v, v, __bfloat162bfloat162(c));
  out[i++] = __low2float(s), out[i++] = __high2float(s);
  out[i++] = __bfloat16_as_ushort(a);
  out[i++] = __bfloat162float(__float2bfloat16(1.00390625f)); // to even
  out[i++] = __bfloat162float(__hmax(a, c)) + __bfloat162float(__habs(b));
  out[i++] = __bfloat162int_rn(__float2bfloat16(2.5f));
}

int main() {
  float *out = onDevice<float>(16);
  numbers<<<1, 1>>>(out);
  auto h = fetch(out, 11);
  const float expected[] = {1.25f, 2.625f, 4.25f, 9,     4, 4,
                            7,     0x3fc0, 1,     3.25f, 2};
  for (int i = 0; i < 11; ++i)
    if (h[i] != expected[i]) {
      fprintf(stderr, "number %d: %g, expected %g\n", i, h[i], expected[i]);
      return 1;
    }
  return 0;
}
