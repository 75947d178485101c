// RUN: dragon-summary %t.sm_90 'read: read' 'step: write read'
// RUN: %host-ir -O1 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Buffers that change places in a loop: after as many iterations as it takes to have them back, each launch has its own.
#include "cuda.h"

KERNEL1(read, float *)
KERNEL2(step, float *, float *)

// CHECK-LABEL: buffer program of pingpong:
// CHECK: launch step write(a) read(b)
// CHECK: launch step write(b) read(a)
// CHECK-NOT: launch step
void pingpong(size_t n, int steps) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    float *swap = a;
    a = b;
    b = swap;
  }
  LAUNCH(read, b);
}

// CHECK-LABEL: buffer program of carousel:
// CHECK: launch step write(a) read(b)
// CHECK: launch step write(b) read(c)
// CHECK: launch step write(c) read(a)
// CHECK-NOT: launch step
void carousel(size_t n, int steps) {
  float *a, *b, *c;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMalloc((void **)&c, n);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    float *first = a;
    a = b;
    b = c;
    c = first;
  }
}

// Not every iteration exchanges them.
// CHECK-LABEL: buffer program of sometimes:
// CHECK: launch step {{.*}}?
// CHECK-NOT: launch step
void sometimes(size_t n, int steps, int when) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    if (i == when) {
      float *swap = a;
      a = b;
      b = swap;
    }
  }
}

// Nothing is launched: no reason to make it longer.
// CHECK-LABEL: buffer program of onHost:
// CHECK: launch read
void onHost(size_t n, int steps, float *x, float *y) {
  float *a;
  cudaMalloc((void **)&a, n);
  for (int i = 0; i < steps; ++i) {
    *x = *y;
    float *swap = x;
    x = y;
    y = swap;
  }
  LAUNCH(read, a);
}
