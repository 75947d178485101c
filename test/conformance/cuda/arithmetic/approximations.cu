// Inline PTX of approximations, video instructions, bit searches, and accesses
// with cache hints, orders and scopes.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_fp16.h>

__global__ void numbers(float *out) {
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(0.5f));
  out[0] = r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(4.0f));
  out[1] = r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(8.0f));
  out[2] = r;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(32.0f));
  out[3] = r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(3.0f));
  out[4] = r;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(9.0f));
  out[5] = r;
  asm("sin.approx.f32 %0, %1;" : "=f"(r) : "f"(0.5f));
  out[6] = r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(9.0f), "f"(2.0f));
  out[7] = r;
  __half half = __float2half(2.0f), result;
  asm("ex2.approx.f16 %0, %1;"
      : "=h"(*(unsigned short *)&result)
      : "h"(*(unsigned short *)&half));
  out[8] = __half2float(result);
  __half2 pair = __floats2half2_rn(0, 1), both;
  asm("tanh.approx.f16x2 %0, %1;"
      : "=r"(*(unsigned *)&both)
      : "r"(*(unsigned *)&pair));
  out[9] = __low2float(both), out[10] = __high2float(both);
  asm("ex2.approx.f16x2 %0, %1;"
      : "=r"(*(unsigned *)&both)
      : "r"(*(unsigned *)&pair));
  out[11] = __high2float(both);
}

__global__ void words(int *out, const int *in, volatile int *flag) {
  int r;
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(0x00010000));
  out[0] = r;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"
      : "=r"(r)
      : "r"(0x05020a00), "r"(0x02050001), "r"(100));
  out[1] = r;
  asm("vshr.u32.u32.u32.clamp %0, %1, %2;" : "=r"(r) : "r"(0x100), "r"(4));
  out[2] = r;
  asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(r) : "l"(in));
  out[3] = r;
  asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(r) : "l"(in + 1));
  out[4] = r;
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(77)
               : "memory");
  asm volatile("ld.acquire.sys.global.s32 %0, [%1];"
               : "=r"(r)
               : "l"(flag)
               : "memory");
  out[5] = r;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  asm("popc.b32 %0, %1;" : "=r"(r) : "r"(0xff0f));
  out[6] = r;
}

__global__ void staged(const float4 *in, float4 *out) {
  __shared__ float4 tile[32];
  unsigned to = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
               "l"(in + threadIdx.x)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

int main() {
  float *out = onDevice<float>(12);
  numbers<<<1, 1>>>(out);
  auto h = fetch(out, 12);
  const float expected[] = {0.462117f, 0.5f, 0.125f, 5, 8,         3,
                            0.479426f, 4.5f, 4,      0, 0.761594f, 2};
  for (int i = 0; i < 12; ++i)
    if (fabsf(h[i] - expected[i]) > 2e-3f) {
      fprintf(stderr, "number %d: %g, expected %g\n", i, h[i], expected[i]);
      return 1;
    }
  int *w = onDevice<int>(8), *flag = onDevice<int>(1);
  words<<<1, 1>>>(w, onDevice(std::vector<int>{11, 22}), flag);
  auto i = fetch(w, 8);
  REQUIRE(i[0] == 16 && i[1] == 100 + 3 + 3 + 10 + 1 && i[2] == 0x10);
  REQUIRE(i[3] == 11 && i[4] == 22 && i[5] == 77 && i[6] == 12);
  std::vector<float4> in(32);
  for (int t = 0; t < 32; ++t)
    in[t] = make_float4(t, 0, 0, -t);
  float4 *o = onDevice<float4>(32);
  staged<<<1, 32>>>(onDevice(in), o);
  auto f = fetch(o, 32);
  REQUIRE(f[0].x == 31 && f[31].w == 0 && f[1].w == -30);
  return 0;
}
