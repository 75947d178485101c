// Inline assembly: what touches no memory, what touches memory at an operand, and what may touch any.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// CHECK-LABEL: kernel registers{{$}}
// CHECK-NEXT:   a (argument 0): write, streaming{{$}}
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
extern "C" __global__ void registers(unsigned *a) {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  a[threadIdx.x] = lane;
}

// One instruction at an operand, as CUDA's headers have them. Without side effects it may be left out: not exact.
// CHECK-LABEL: kernel loads{{$}}
// CHECK-NEXT:   a (argument 0): read
// CHECK-NEXT:     read 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:     read 8 bytes at 16
// CHECK-NEXT:     read 16 bytes at 48
extern "C" __global__ void loads(const float *a) {
  float x, y, z, w;
  asm("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(a + threadIdx.x));
  asm("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2 + 16];" : "=f"(x), "=f"(y) : "l"(a));
  asm("{ld.v4.f32 {%0, %1, %2, %3}, [%4];}"
      : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"((unsigned long)a + 48));
}
// CHECK-LABEL: kernel stores{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write 2 bytes at 2*zext64(tid.x)
// CHECK-NEXT:   b (argument 1): read-write
// CHECK-NEXT:     atomic 4 bytes at 0
// CHECK-NEXT:     atomic 2 bytes at 2*zext64(tid.x)
extern "C" __global__ void stores(short *a, short *b, short v) {
  asm volatile("st.global.wt.b16 [%0], %1;" ::"l"(a + threadIdx.x), "h"(v) : "memory");
  int old;
  asm volatile("{ atom.add.noftz.f16x2 %0,[%1],%2; }\n" : "=r"(old) : "l"(b), "r"(1) : "memory");
  asm volatile("red.relaxed.gpu.global.add.noftz.bf16 [%0], %1;" ::"l"(b + threadIdx.x), "h"(v) : "memory");
}

// Copies into shared memory read global memory; loads of shared memory do not, and waits for copies have no address.
// CHECK-LABEL: kernel copies{{$}}
// CHECK-NEXT:   a (argument 0): read
// CHECK-NEXT:     read 16 bytes at 16*zext64(tid.x)
extern "C" __global__ void copies(const float4 *a, unsigned tile) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(tile), "l"(a + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("{ cp.async.wait_group 1; cp.async.wait_all; }");
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(tile));
}

// Not understood, but on pointers that are: an address in a register of its own, a condition.
// CHECK-LABEL: kernel other_address{{$}}
// CHECK-NEXT:   a (argument 0): read-write
// CHECK-NEXT:     read-write anywhere
extern "C" __global__ void other_address(float *a) {
  float v;
  asm("{ .reg .u64 t; add.u64 t, %1, 4; ld.global.f32 %0, [t]; }" : "=f"(v) : "l"(a));
}
// CHECK-LABEL: kernel conditional{{$}}
// CHECK-NEXT:   a (argument 0): read-write
// CHECK-NEXT:     read-write anywhere
extern "C" __global__ void conditional(float *a, int n) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; @p st.global.f32 [%0], 0f00000000; }" ::"l"(a), "r"(n) : "memory");
}
// A bulk copy has an instruction's name, and a width in a register.
// CHECK-LABEL: kernel bulk{{$}}
// CHECK-NEXT:   a (argument 0): read-write
// CHECK-NEXT:     read-write anywhere
extern "C" __global__ void bulk(float *a, unsigned n) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(a), "r"(n) : "memory");
}

// Of an address that was loaded one knows nothing.
// CHECK-LABEL: kernel loaded, touches anything{{$}}
extern "C" __global__ void loaded(unsigned long *a) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(a[0]));
}
// CHECK-LABEL: kernel last
extern "C" __global__ void last() {}
