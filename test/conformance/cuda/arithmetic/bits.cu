// Integer intrinsics: bits, bytes, funnel shifts, dot products, high halves.
// RUN: %conforms %s
#include "conformance.h"

__global__ void bits(unsigned x, unsigned y, unsigned long long w, int *out) {
  int i = 0;
  out[i++] = __brev(x);
  out[i++] = __popc(x);
  out[i++] = __ffs(x);
  out[i++] = __clz(x);
  out[i++] = __byte_perm(x, y, 0x5140);
  out[i++] = __funnelshift_l(x, y, 8);
  out[i++] = __funnelshift_r(x, y, 40);
  out[i++] = __funnelshift_rc(x, y, 40);
  out[i++] = __funnelshift_lc(x, y, 33);
  out[i++] = __popcll(w);
  out[i++] = __ffsll(w);
  out[i++] = __clzll(w);
  out[i++] = (int)(__brevll(w) >> 32);
  out[i++] = __dp4a(0x01020304, 0x05060708, 100);
  out[i++] = __dp4a(0xff020304u, 0x05060708u, 100u);
  out[i++] = __dp2a_lo(0x00030002, 0x05060708, 1);
  out[i++] = __dp2a_hi(0x00030002, 0x05060708, 1);
  out[i++] = __mulhi((int)0x80000000, 6);
  out[i++] = __umulhi(0x80000000u, 6u);
  out[i++] = (int)__umul64hi(w, 65536);
  out[i++] = __mul24(0x01000003, 5);
  out[i++] = __sad(-5, 9, 100u);
  out[i++] = __usad(5u, 9u, 100u);
  out[i++] = __hadd(-3, 8);
  out[i++] = __rhadd(-3, 8);
  out[i++] = __vadd4(0xff010203, 0x01010101);
  out[i++] = __vabsdiffu4(0x05020a00, 0x020502ff);
  out[i++] = __vmaxu4(0x05020a00, 0x020502ff);
  out[i++] = __vcmpgtu4(0x05020a00, 0x020502ff);
  out[i++] = __vsub2(0x00010000, 0x00000001);
  out[i++] = __float_as_int(1.0f);
  out[i++] = __float2int_rn(2.5f) * 1000 + __float2int_ru(2.1f) * 100 +
             __float2int_rd(-2.1f) * 10 + __float2int_rz(2.9f);
  out[i++] = (int)(__double_as_longlong(-2.0) >> 32);
  out[i++] = __double2hiint(1.5);
  out[i++] = __vaddss4(0x7f010203, 0x7f010101);
  out[i++] = __vavgu4(0x05020a00, 0x020502ff);
}

int main() {
  int *out = onDevice<int>(64);
  bits<<<1, 1>>>(0x12345678, 0x9abcdef0, 0x00f0000000000010ull, out);
  auto h = fetch(out, 36);
  const unsigned expected[] = {
      0x1e6a2c48, 13,         4,          3,
      0xde56f078, 0xbcdef012, 0xf0123456, 0x9abcdef0,
      0x12345678, 5,          5,          8,
      0x08000000, 170,        1440,       38,
      28,         0xfffffffd, 3,          0xf0,
      15,         114,        104,        2,
      3,          0x00020304, 0x030308ff, 0x05050aff,
      0xff00ff00, 0x0001ffff, 0x3f800000, 2000 + 300 - 30 + 2,
      0xc0000000, 0x3ff80000, 0x7f020304, 0x04040680};
  for (int i = 0; i < 36; ++i)
    if (unsigned(h[i]) != expected[i]) {
      fprintf(stderr, "number %d: 0x%x, expected 0x%x\n", i, h[i], expected[i]);
      return 1;
    }
  return 0;
}
