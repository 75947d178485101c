// What a kernel calls is inlined for the analysis as long as it does not grow beyond measure. Of functions that are left, what they
// may access is known if that is through their arguments only.
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s

#include "device.h"

// Each calls the one before eight times.
#define TIMES8(call)                                                           \
  call;                                                                        \
  call;                                                                        \
  call;                                                                        \
  call;                                                                        \
  call;                                                                        \
  call;                                                                        \
  call;                                                                        \
  call
__device__ void level0(unsigned *x, const unsigned *key) {
  for (int i = 0; i < 4; ++i)
    x[i] = (x[i] ^ key[i]) * 2654435761u + (x[(i + 1) & 3] >> 7);
}
__device__ void level1(unsigned *x, const unsigned *key) {
  TIMES8(level0(x, key));
}
__device__ void level2(unsigned *x, const unsigned *key) {
  TIMES8(level1(x, key));
}
__device__ void level3(unsigned *x, const unsigned *key) {
  TIMES8(level2(x, key));
}
__device__ void level4(unsigned *x, const unsigned *key) {
  TIMES8(level3(x, key));
}
__device__ void level5(unsigned *x, const unsigned *key) {
  TIMES8(level4(x, key));
}

// 8^5 times.
// CHECK-LABEL: kernel deep{{$}}
// CHECK-NEXT: out (argument 0): write
// CHECK-NEXT:   write exact 4 bytes at 4*{{[sz]}}ext64(bid.x*bdim.x + tid.x)
// CHECK-NEXT: key (argument 1): read
// CHECK-NEXT:   read anywhere
extern "C" __global__ void deep(unsigned *out, const unsigned *key) {
  unsigned x[4] = {1, 2, 3, threadIdx.x};
  level5(x, key);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
}

// Through a pointer in memory.
struct List {
  unsigned *values;
};
__device__ void behind(List *list, unsigned *x, const unsigned *key) {
  level5(x, key);
  list->values[0] = x[0];
  level5(x, key);
}
// CHECK-LABEL: kernel through{{.*}} anything
extern "C" __global__ void through(List *list, const unsigned *key) {
  unsigned x[4] = {1, 2, 3, threadIdx.x};
  behind(list, x, key);
  behind(list, x, key);
  behind(list, x, key);
}

// What is updated atomically is told apart; barriers are seen.
__device__ void count(unsigned *x, const unsigned *key) {
  level5(x, key);
  __nvvm_atom_add_gen_i((int *)x, 1);
  __nvvm_bar_sync(0);
  level5(x, key);
}
// CHECK-LABEL: kernel counts, barriers{{$}}
// CHECK-NEXT: counters (argument 0): read-write
// CHECK-NEXT:   read-write anywhere
// CHECK-NEXT:   atomic exact 4 bytes at 0
extern "C" __global__ void counts(unsigned *counters, const unsigned *key) {
  count(counters, key);
  count(counters, key);
}

// Threads may end there.
__device__ void ends0(unsigned *x) {
  for (int i = 0; i < 4; ++i)
    if (x[i] == 7)
      __builtin_trap();
}
__device__ void ends1(unsigned *x) { TIMES8(ends0(x)); }
__device__ void ends2(unsigned *x) { TIMES8(ends1(x)); }
__device__ void ends3(unsigned *x) { TIMES8(ends2(x)); }
__device__ void ends4(unsigned *x) { TIMES8(ends3(x)); }
__device__ void ends5(unsigned *x) { TIMES8(ends4(x)); }
// CHECK-LABEL: kernel mayEnd, prints{{$}}
// CHECK-NEXT: out (argument 0): write
// CHECK-NEXT:   write 4 bytes at 4*{{[sz]}}ext64(bid.x)
extern "C" __global__ void mayEnd(unsigned *out) {
  unsigned x[4] = {1, 2, 3, threadIdx.x};
  ends5(x);
  out[blockIdx.x] = x[0];
}

// Inline assembly and shared memory, of which LLVM infers nothing: what is written is told from what is read.
__device__ void tile0(unsigned *x, const unsigned *a, unsigned *b, unsigned *tile) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(x[0]), "l"(a + x[1]) : "memory");
  asm volatile("cp.async.wait_all;");
  tile[threadIdx.x] += x[2];
  __nvvm_bar_sync(0);
  for (int i = 0; i < 4; ++i)
    x[i] = (x[i] ^ tile[i]) * 2654435761u + (x[(i + 1) & 3] >> 7);
  b[x[3]] = x[1];
}
__device__ void tile1(unsigned *x, const unsigned *a, unsigned *b, unsigned *t) { TIMES8(tile0(x, a, b, t)); }
__device__ void tile2(unsigned *x, const unsigned *a, unsigned *b, unsigned *t) { TIMES8(tile1(x, a, b, t)); }
__device__ void tile3(unsigned *x, const unsigned *a, unsigned *b, unsigned *t) { TIMES8(tile2(x, a, b, t)); }
__device__ void tile4(unsigned *x, const unsigned *a, unsigned *b, unsigned *t) { TIMES8(tile3(x, a, b, t)); }
__device__ void tile5(unsigned *x, const unsigned *a, unsigned *b, unsigned *t) { TIMES8(tile4(x, a, b, t)); }
// CHECK-LABEL: kernel tiles, barriers{{$}}
// CHECK-NEXT: in (argument 0): read{{$}}
// CHECK-NEXT:   read anywhere
// CHECK-NEXT: out (argument 1): {{(read-)?}}write
// CHECK-NEXT:   {{(read-)?}}write anywhere
extern "C" __global__ void tiles(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[256];
  unsigned x[4] = {1, 2, 3, threadIdx.x};
  tile5(x, in, out, tile);
}

// One that stores an address: somebody else may use it.
__device__ void keep0(unsigned **place, unsigned *x, const unsigned *key) {
  level0(x, key);
  place[x[0]] = x + 1;
}
__device__ void keep1(unsigned **p, unsigned *x, const unsigned *key) { TIMES8(keep0(p, x, key)); }
__device__ void keep2(unsigned **p, unsigned *x, const unsigned *key) { TIMES8(keep1(p, x, key)); }
__device__ void keep3(unsigned **p, unsigned *x, const unsigned *key) { TIMES8(keep2(p, x, key)); }
__device__ void keep4(unsigned **p, unsigned *x, const unsigned *key) { TIMES8(keep3(p, x, key)); }
__device__ void keep5(unsigned **p, unsigned *x, const unsigned *key) { TIMES8(keep4(p, x, key)); }
// CHECK-LABEL: kernel keeping, touches anything
extern "C" __global__ void keeping(unsigned **place, unsigned *x, const unsigned *key) { keep5(place, x, key); }

// One that calls itself accesses what it is given.
__device__ unsigned again(unsigned *x, const unsigned *key, unsigned n) {
  x[n] ^= key[n];
  return n ? again(x, key, n - 1) + x[n] * again(x, key, n / 2) : 1;
}
// CHECK-LABEL: kernel recursive{{$}}
// CHECK-NEXT: x (argument 0): read-write
// CHECK-NEXT:   read-write anywhere
extern "C" __global__ void recursive(unsigned *x, const unsigned *key) { x[0] = again(x, key, threadIdx.x); }
