// RUN: dragon-summary %t.sm_90 'scale: read-write' 'add: read read-write'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// A pointer that nothing is known of may be the address of whatever escapes. No use by it is one that can be told, so what
// escapes is never taken for dead, nor for memory that only copies and files touch.
#include "cuda.h"

KERNEL1(scale, float *)
KERNEL2(add, const float *, float *)

extern float *known;

// The one before is used after the next one was allocated.
// CHECK-LABEL: buffer program of earlier:
// CHECK: buffer d {{.*}} escapes
// CHECK: launch add read(d)? read-write(sum)
// CHECK-NOT: discard d
void earlier(size_t n, int times, float *host) {
  float *sum;
  cudaMalloc((void **)&sum, n);
  cudaMemcpy(sum, host, n, H2D);
  for (int i = 0;; ++i) {
    float *d;
    cudaMalloc((void **)&d, n);
    if (i > 0)
      LAUNCH(add, known, sum);
    if (i == times)
      break;
    cudaMemset(d, 0, n);
    LAUNCH(add, d, sum);
    known = d;
  }
  cudaMemcpy(host, sum, n, D2H);
}

// What is not kept dies.
// CHECK-LABEL: buffer program of notKept:
// CHECK: after add{{.*}}: discard d
void notKept(size_t n, int times, float *host) {
  float *sum;
  cudaMalloc((void **)&sum, n);
  cudaMemcpy(sum, host, n, H2D);
  for (int i = 0; i < times; ++i) {
    float *d;
    cudaMalloc((void **)&d, n);
    cudaMemset(d, 0, n);
    LAUNCH(add, d, sum);
    LAUNCH(scale, sum);
  }
  cudaMemcpy(host, sum, n, D2H);
}

// The host looks at managed memory by another pointer, between a launch and what overwrites it.
// CHECK-LABEL: buffer program of managed:
// CHECK: buffer m {{.*}} managed escapes
// CHECK-NOT: discard m
float managed(size_t n, int i) {
  float *m;
  cudaMallocManaged((void **)&m, n, 1);
  known = m;
  LAUNCH(scale, m);
  cudaDeviceSynchronize();
  float first = known[i];
  cudaMemset(m, 0, n);
  LAUNCH(scale, m);
  return first;
}

// It changes what a file has given, and what a kernel has.
// CHECK-LABEL: buffer program of staged:
// CHECK-NOT: elide
// CHECK: missed: 'h' not elided: a store to memory that other code may see
void staged(size_t n, FILE *in) {
  float *h = malloc(n), *d;
  known = h;
  cudaMalloc((void **)&d, n);
  fread(h, 1, n, in);
  known[0] = 1;
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(scale, d);
}

// Elements that others know are no array's.
// CHECK-LABEL: buffer program of published:
// CHECK: buffer d {{.*}} escapes {{.*}} summary{{$}}
// CHECK: return
// CHECK-NOT: discard d
void published(size_t n, float *host) {
  float *d[100], *sum;
  cudaMalloc((void **)&sum, n);
  for (int i = 0; i < 100; ++i) {
    cudaMalloc((void **)&d[i], n);
    known = d[i];
  }
  for (int i = 0; i < 100; ++i) {
    cudaMemset(d[i], 0, n);
    LAUNCH(add, known, sum);
  }
  cudaMemcpy(host, sum, n, D2H);
}
