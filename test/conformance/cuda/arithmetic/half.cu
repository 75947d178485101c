// __half and __half2: conversions, arithmetic, comparisons, functions.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_fp16.h>

__global__ void halves(float *out) {
  int i = 0;
  __half a = __float2half(1.5f), b = __float2half_rn(-0.25f), c = __half(3);
  out[i++] = __half2float(__hadd(a, b));
  out[i++] = __half2float(a * b + c);
  out[i++] = __half2float(__hfma(a, c, b));
  out[i++] = __half2float(a / c);
  out[i++] = __hlt(b, a) + 2 * __hgt(b, a) + 4 * (a == c) + 8 * (a <= c);
  out[i++] = __half2float(hsqrt(__float2half(16.0f)));
  out[i++] = __half2float(hexp(__float2half(0.0f))) +
             __half2float(hlog2(__float2half(8.0f)));
  out[i++] = __half2float(__hmax(a, c)) - __half2float(__hmin(a, b));
  __half2 v = __floats2half2_rn(1, 2), w = __half2half2(c);
  __half2 s = __hadd2(__hmul2(v, w), v);
  out[i++] = __low2float(s), out[i++] = __high2float(s);
  __half2 f = __hfma2(v, w, w);
  out[i++] = __half2float(f.x), out[i++] = __half2float(__high2half(f));
  float2 g = __half22float2(__lowhigh2highlow(f));
  out[i++] = g.x - g.y;
  out[i++] = __half_as_ushort(a);
  out[i++] =
      __half2int_rn(__float2half(2.5f)) + __half2short_rz(__float2half(-1.9f));
  out[i++] =
      __half2float(__int2half_rn(77)) + __half2float(__ushort_as_half(0x3c00));
  out[i++] = __hisnan(__float2half(NAN)) + 2 * __hisinf(__float2half(1e30f));
  out[i++] =
      __half2float(__float2half_rz(0.1f)) < __half2float(__float2half_ru(0.1f));
  __half sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += __half(k);
  out[i++] = float(sum) + float(__habs(b)) + float(-b);
  out[i++] = __half2float(hrint(__float2half(3.5f))) +
             __half2float(hfloor(__float2half(-0.5f)));
}

int main() {
  float *out = onDevice<float>(32);
  halves<<<1, 1>>>(out);
  auto h = fetch(out, 20);
  const float expected[] = {1.25f, 2.625f, 4.25f, 0.5f, 9,    4, 4,
                            3.25f, 4,      8,     6,    9,    3, 15872,
                            1,     78,     3,     1,    6.5f, 3};
  for (int i = 0; i < 20; ++i)
    if (h[i] != expected[i]) {
      fprintf(stderr, "number %d: %g, expected %g\n", i, h[i], expected[i]);
      return 1;
    }
  // On the host too.
  __half x = __float2half(2.5f);
  REQUIRE(__half2float(x) == 2.5f && float(x + x) == 5);
  return 0;
}
