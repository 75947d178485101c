// Inline assembly as nvcc reads it: names with one percent sign, operands without a comma. What clang reads stays as it is.
// RUN: %cc -ptx -arch=sm_90 -Werror %s -o - | FileCheck %s
// RUN: %cc -arch=sm_90 %s -o %t && env DRAGON_BACKEND=cpu %t
// RUN: not %cc -fsyntax-only -arch=sm_90 -DWRONG %s 2>&1 | FileCheck %s --check-prefix=PLACE

// asm("%name" : "=r"(x)) in comments is none, nor is it in "asm(\"%name\" : )".
// clang-format off
#define LANE(to) \
  asm("mov.u32 %0, %laneid;" \
      : "=r"(to))

__global__ void kernel(unsigned *out, unsigned char *flag) {
  unsigned thread, lane, sum, same;
  // CHECK: mov.u32 %r{{[0-9]+}}, %tid.x;
  asm volatile("mov.u32 %0, %tid.x;" : "=r"(thread));
  // CHECK: mov.u32 %r{{[0-9]+}}, %laneid;
  LANE(lane);
  // CHECK: { .reg .u32 %t; mov.u32 %t, %ntid.x; add.u32 %r[[SUM:[0-9]+]], %t, %r{{[0-9]+}}; }
  __asm__ __volatile__(R"({ .reg .u32 %t; mov.u32 %t, %%ntid.x; add.u32 %0, %t, %1; })" : "=r"(sum) : "r"(lane + (thread ? 1 : 0)));
  // CHECK: add.u32 %r{{[0-9]+}}, %r[[SUM]], %r{{[0-9]+}};
  asm("add.u32 %0, %1, %[other];" : "=r"(same) : "r"(sum) /* and */ [other] "r"(lane) : "memory");
  // CHECK: st.release.sys.global.u8 [%rd{{[0-9]+}}], %r{{[0-9]+}};
  asm volatile("st.release.sys.global.u8 [%1], %0;" ::"r"(7) "l"(flag)
               : "memory");
  // CHECK: mov.u32 %r1, %r2;
  asm("{ .reg .u32 %r<3>; mov.u32 %r2, 0; mov.u32 %r1, %r2; }");
  out[thread] = same;
}

#ifdef WRONG
// PLACE: assembly-spelling.cu:[[#@LINE+1]]:86: error: {{.*}}'missing'
__device__ void wrong(int a) { asm("mov.u32 %0, %1;" : "=r"(a) : "r"(a) "r"(a)); a = missing; }
#endif
// clang-format on

int main() {
  unsigned *out, h[4];
  unsigned char *flag, f;
  cudaMalloc(&out, sizeof h);
  cudaMalloc(&flag, 1);
  kernel<<<1, 4>>>(out, flag);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy(&f, flag, 1, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < 4; ++i)
    if (h[i] != 4 + i + (i ? 1 : 0) + i)
      return 1;
  return f != 7;
}
