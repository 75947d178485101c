// Inline PTX of the common kind: arithmetic with carry, selection, predicates,
// special registers, memory of each kind, conversions, branches.
// RUN: %conforms %s
#include "conformance.h"

__global__ void ptx(unsigned *out, const unsigned *in) {
  __shared__ unsigned tile[32];
  unsigned t = threadIdx.x, r, lo, hi;
  unsigned long long wide;
  asm("add.u32 %0, %1, %2;" : "=r"(r) : "r"(t), "r"(5));
  out[t] = r;
  asm("{add.cc.u32 %0, %2, %3; addc.u32 %1, %4, 0;}"
      : "=r"(lo), "=r"(hi)
      : "r"(0xffffffffu), "r"(t), "r"(7));
  out[32 + t] = lo + hi * 1000;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(t), "r"(0x80000000u));
  out[64 + t] = unsigned(wide >> 31);
  asm("{.reg .pred p; setp.gt.u32 p, %1, 10; selp.u32 %0, 1, 2, p;}"
      : "=r"(r)
      : "r"(t));
  out[96 + t] = r;
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r) : "r"(0x12345678u));
  out[128 + t] = r;
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(r) : "r"(t), "r"(0xffffffffu));
  out[160 + t] = r;
  asm("lop3.b32 %0, %1, %2, %3, 0xE8;"
      : "=r"(r)
      : "r"(0xf0f0u), "r"(0xff00u), "r"(t));
  out[192 + t] = r;
  asm("prmt.b32 %0, %1, %2, 0x3210;" : "=r"(r) : "r"(t), "r"(1));
  out[224 + t] = r;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(r) : "l"(in + t));
  asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(out + 256 + t), "r"(r)
               : "memory");
  unsigned where = (unsigned)__cvta_generic_to_shared(tile + t);
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(where), "r"(t * 2) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(where ^ 4) : "memory");
  out[288 + t] = r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  out[320 + t] = r;
  asm("{.reg .u32 i; mov.u32 i, 0; mov.u32 %0, 0; again: add.u32 %0, %0, %1;"
      " add.u32 i, i, 1; .reg .pred p; setp.lt.u32 p, i, 3; @p bra again;}"
      : "=r"(r)
      : "r"(t));
  out[352 + t] = r;
  float f;
  asm("fma.rn.f32 %0, %1, %2, %3;"
      : "=f"(f)
      : "f"(2.0f), "f"(float(t)), "f"(0.5f));
  asm("cvt.rni.u32.f32 %0, %1;" : "=r"(r) : "f"(f));
  out[384 + t] = r;
  asm("shf.l.wrap.b32 %0, %1, %2, 4;" : "=r"(r) : "r"(0xf0000000u), "r"(t));
  out[416 + t] = r;
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(out + 448), "r"(t)
               : "memory");
  asm volatile(
      "{.reg .u32 o; atom.global.max.u32 o, [%0], %1;}" ::"l"(out + 449), "r"(t)
      : "memory");
  asm("mad.lo.u32 %0, %1, %1, %1;" : "+r"(t) : "r"(t));
  out[480 + threadIdx.x] = t;
}

int main() {
  std::vector<unsigned> in(32);
  for (int t = 0; t < 32; ++t)
    in[t] = t * 9;
  unsigned *out = onDevice<unsigned>(512);
  ptx<<<1, 32>>>(out, onDevice(in));
  auto h = fetch(out, 512);
  for (unsigned t = 0; t < 32; ++t) {
    REQUIRE(h[t] == t + 5);
    REQUIRE(h[32 + t] == (t ? t - 1 + 8000 : 0xffffffffu + 7000));
    REQUIRE(h[64 + t] == t && h[96 + t] == (t > 10 ? 1 : 2));
    REQUIRE(h[128 + t] == 0x67 && h[160 + t] == (0xfffff0ff | (t & 15) << 8));
    REQUIRE(h[192 + t] == ((0xf0f0 & 0xff00) | (0xf0f0 & t) | (0xff00 & t)));
    REQUIRE(h[224 + t] == t && h[256 + t] == 9 * t);
    REQUIRE(h[288 + t] == (t ^ 1) * 2 && h[320 + t] == t &&
            h[352 + t] == 3 * t);
    REQUIRE(h[384 + t] == (t * 2 + 0 + 0) + (0)); // ties to even
    REQUIRE(h[416 + t] == (t << 4 | 0xf) && h[480 + t] == t * t + t);
  }
  REQUIRE(h[448] == 496 && h[449] == 31);
  return 0;
}
