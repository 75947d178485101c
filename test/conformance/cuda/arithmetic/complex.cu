// cuComplex and vector types.
// RUN: %conforms %s
#include "conformance.h"
#include <cuComplex.h>

__global__ void numbers(cuFloatComplex *f, cuDoubleComplex *d, float4 *v) {
  cuFloatComplex a = make_cuFloatComplex(1, 2), b = make_cuFloatComplex(3, -1);
  f[0] = cuCaddf(a, b), f[1] = cuCmulf(a, b), f[2] = cuCdivf(a, b);
  f[3] = cuConjf(cuCfmaf(a, b, a));
  cuDoubleComplex c = make_cuDoubleComplex(3, 4);
  d[0] = cuCmul(c, c);
  d[1] = make_cuDoubleComplex(cuCabs(c), cuCreal(c) + cuCimag(c));
  int4 i = make_int4(1, 2, 3, 4);
  uchar2 u = make_uchar2(200, 100);
  v[0] = make_float4(i.x + u.x, i.y + u.y, i.z, i.w);
}

int main() {
  auto *f = onDevice<cuFloatComplex>(4);
  auto *d = onDevice<cuDoubleComplex>(2);
  float4 *v = onDevice<float4>(1);
  numbers<<<1, 1>>>(f, d, v);
  auto h = fetch(f, 4);
  REQUIRE(h[0].x == 4 && h[0].y == 1 && h[1].x == 5 && h[1].y == 5);
  REQUIRE(fabsf(h[2].x - 0.1f) < 1e-6f && fabsf(h[2].y - 0.7f) < 1e-6f);
  REQUIRE(h[3].x == 6 && h[3].y == -7);
  auto g = fetch(d, 2);
  REQUIRE(g[0].x == -7 && g[0].y == 24 && g[1].x == 5 && g[1].y == 7);
  auto w = fetch(v, 1)[0];
  REQUIRE(w.x == 201 && w.y == 102 && w.w == 4);
  return 0;
}
