// Kinds of accesses: widths, atomics, copies, loads that nobody uses.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// CHECK-LABEL: kernel vectors{{$}}
// CHECK:          read exact 16 bytes at 16*zext64(tid.x)
// CHECK:          write exact 16 bytes at 16*zext64(tid.x)
extern "C" __global__ void vectors(const float4 *a, float4 *b) {
  b[threadIdx.x] = a[threadIdx.x];
}

// Fields next to each other are one access; a gap is a gap.
struct Point {
  float x, y, z, mass;
};
// CHECK-LABEL: kernel fields{{$}}
// CHECK-NEXT:   p (argument 0): write
// CHECK-NEXT:     write exact 12 bytes at 16*zext64(tid.x)
// CHECK-NEXT:   q (argument 1): write
// CHECK-NEXT:     write exact 4 bytes at {{.*}}16*zext64(tid.x)
// CHECK-NEXT:     write exact 4 bytes at {{.*}}16*zext64(tid.x)
extern "C" __global__ void fields(Point *p, Point *q) {
  p[threadIdx.x].x = 1;
  p[threadIdx.x].z = 1;
  p[threadIdx.x].y = 1;
  q[threadIdx.x].x = 1;
  q[threadIdx.x].mass = 1;
}

// CHECK-LABEL: kernel atomics{{$}}
// CHECK-NEXT:   a (argument 0): read-write, {{.*}}read first
// CHECK-NEXT:     atomic exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:     atomic exact 4 bytes at 0
// CHECK-NEXT:   b (argument 1): read-write, {{.*}}read first
// CHECK-NEXT:     atomic exact 4 bytes at 0
extern "C" __global__ void atomics(int *a, float *b) {
  __atomic_fetch_add(&a[threadIdx.x], 1, __ATOMIC_RELAXED);
  int expected = 0;
  __atomic_compare_exchange_n(&a[0], &expected, 1, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  __nvvm_atom_add_gen_f(b, 1.0f);
}

// Copies of constant and of variable length.
// CHECK-LABEL: kernel copies{{$}}
// CHECK-NEXT:   a (argument 0): read
// CHECK-NEXT:     read exact 64 bytes at 64*zext64(tid.x)
// CHECK-NEXT:     read exact 1 bytes at k{{[01]}}
// CHECK-NEXT:       if 0 <u arg2
// CHECK-NEXT:   b (argument 1): write
// CHECK-NEXT:     write exact 64 bytes at 64*zext64(tid.x)
// CHECK-NEXT:     write exact 1 bytes at k{{[01]}}
// CHECK-NEXT:       if 0 <u arg2
extern "C" __global__ void copies(const char *a, char *b, size_t n) {
  __builtin_memcpy(b + 64 * threadIdx.x, a + 64 * threadIdx.x, 64);
  __builtin_memcpy(b, a, n);
}

// A load through the read-only path; a volatile one.
// CHECK-LABEL: kernel cached{{$}}
// CHECK-NEXT:   a (argument 0): read
// CHECK-NEXT:     read exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   b (argument 1): write
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
extern "C" __global__ void cached(const int *a, volatile int *b) {
  b[threadIdx.x] = __nvvm_ldg_i(&a[threadIdx.x]);
}

// At -O0 the unused value is loaded, and the value that is there is stored.
// CHECK-LABEL: kernel useless{{$}}
// CHECK-NEXT:   a (argument 0): read
// CHECK-NEXT:     read exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   b (argument 1): read-write
// CHECK-NEXT:     read exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   p (argument 2): read
// CHECK-NEXT:     read exact 8 bytes at 8*zext64(tid.x)
extern "C" __global__ void useless(const int *a, int *b, float **p) {
  int unused = a[threadIdx.x];
  b[threadIdx.x] = b[threadIdx.x];
  float *nobody = p[threadIdx.x];
}

// What another access does under fewer conditions is left out; under other conditions, or wider, it is not.
// CHECK-LABEL: kernel covered{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   b (argument 1): write
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:       if {{.*}}arg2
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:       if {{.*}}arg3
extern "C" __global__ void covered(float *a, float *b, int n, int m) {
  unsigned i = threadIdx.x;
  a[i] = 0;
  if (n > 7) {
    a[i] = 1;
    b[i] = 1;
  }
  if (m > 7)
    b[i] = 2;
}

// The surer one stays, whichever comes first; a read does not cover a write.
// CHECK-LABEL: kernel surer{{$}}
// CHECK-NEXT:   a (argument 0): read-write, {{.*}}read first
// CHECK-NEXT:     read exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   b (argument 1): read
extern "C" __global__ void surer(int *a, const int *b) {
  unsigned i = threadIdx.x;
  if (b[i])
    a[i] = 1;
  a[i] = a[i] + 1;
}

// An index from memory.
// CHECK-LABEL: kernel gather{{$}}
// CHECK-NEXT:   a (argument 0): read, indirect
// CHECK-NEXT:     read indirect 4 bytes at 4*sext64(mem32[arg1 + 4*zext64(tid.x)])
// CHECK-NEXT:   index (argument 1): read, streaming
// CHECK-NEXT:     read exact 4 bytes at 4*zext64(tid.x)
extern "C" __global__ void gather(const float *a, const int *index, float *to) {
  to[threadIdx.x] = a[index[threadIdx.x]];
}
// It remains one on its way through arithmetic, a loop and a conversion; the way that a thread takes is no data.
// CHECK-LABEL: kernel histogram{{$}}
// CHECK-NEXT:   bins (argument 0): read-write, indirect
// CHECK-NEXT:     atomic indirect 4 bytes at
// CHECK-NEXT:   x (argument 1): read, streaming
extern "C" __global__ void histogram(int *bins, const float *x, float scale) {
  int bin = (int)(x[threadIdx.x] * scale);
  while (bin > 100)
    bin /= 3;
  __atomic_fetch_add(&bins[bin], 1, __ATOMIC_RELAXED);
}
// CHECK-LABEL: kernel way{{$}}
// CHECK-NEXT:   a (argument 0): write{{(, [a-z]+)?$}}
// CHECK-NEXT:     write conditional 4 bytes at
extern "C" __global__ void way(int *a, const int *x) {
  int at = 4;
  if (x[threadIdx.x] > 7)
    at = 8;
  a[at + 16 * threadIdx.x] = 1;
}
// Whether an access happens is for data to say where they decide on the way to it or on how often it is made, not where
// they only decided on something else before.
// CHECK-LABEL: kernel sometimes{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write conditional 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:       if
// CHECK-NEXT:     write exact 4 bytes at 256 + 4*zext64(tid.x)
// CHECK-NEXT:       if arg3
// CHECK-NEXT:     write conditional 4 bytes at 512 +
// CHECK:        b (argument 1): write
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x)
extern "C" __global__ void sometimes(int *a, int *b, const int *x, int n) {
  if (x[threadIdx.x] > 7)
    a[threadIdx.x] = 1;
  b[threadIdx.x] = 1;
  if (n < 8)
    a[threadIdx.x + 64] = 2;
  for (int i = 0; x[i] > 7; ++i)
    a[128 + i] = 3;
}
// CHECK:      note: gather: 'a': the index is loaded from memory
