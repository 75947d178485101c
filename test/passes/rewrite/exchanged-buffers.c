// RUN: dragon-summary %t.sm_90 'read: read' 'step: read write' 'mix: read read write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t | FileCheck %s

// Behind a loop that exchanges buffers, those that are not looked at any more are discarded before anything else happens,
// whichever they are.
#include "cuda.h"

KERNEL1(read, float *)
KERNEL2(step, float *, float *)
KERNEL3(mix, float *, float *, float *)
void unknown(float *);

// CHECK-LABEL: define {{.*}}@freedByName(
// CHECK: {{^}}for.end:
// CHECK: [[A:%a[0-9a-z.]+]] = phi ptr
// CHECK: [[B:%b[0-9a-z.]+]] = phi ptr
// CHECK-NEXT: call void @__dragon_discard(ptr [[B]], i64 -1, ptr null)
// CHECK-NEXT: call i32 @cudaMemcpy(ptr {{.*}}, ptr {{.*}}[[A]],
// CHECK-NEXT: call i32 @cudaFree(
void freedByName(size_t n, int steps, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    float *swap = a;
    a = b;
    b = swap;
  }
  cudaMemcpy(h, a, n, D2H);
  cudaFree(a);
  cudaFree(b);
}

// No variable has its address: one is made.
// CHECK-LABEL: define {{.*}}@otherNames(
// CHECK: [[A:%[0-9a-z]+]] = load ptr, ptr %a.slot
// CHECK: [[B:%[0-9a-z]+]] = load ptr, ptr %b.slot
// CHECK: {{^}}for.end:
// CHECK-NEXT: [[DEAD:%dragon.dead[0-9]*]] = phi ptr [ [[A]], %for.inc ], [ [[B]], %for.cond ]
// CHECK-NEXT: [[LAST:%from[0-9a-z.]+]] = phi ptr [ [[A]], %for.cond ], [ [[B]], %for.inc ]
// CHECK-NEXT: call void @__dragon_discard(ptr [[DEAD]], i64 -1, ptr null)
// CHECK-NEXT: call i32 @cudaMemcpy(ptr {{.*}}, ptr {{.*}}[[LAST]],
void otherNames(size_t n, int steps, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  float *from = a, *to = b;
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, from, to);
    float *swap = from;
    from = to;
    to = swap;
  }
  cudaMemcpy(h, from, n, D2H);
  cudaFree(a);
  cudaFree(b);
}

struct grid {
  float *from, *to;
};

// CHECK-LABEL: define {{.*}}@fields(
// CHECK: {{^}}for.end:
// CHECK: call void @__dragon_discard(ptr %{{[a-z0-9.]+}}, i64 -1, ptr null)
// CHECK-NEXT: call i32 @cudaMemcpy(
void fields(size_t n, int steps, void *h) {
  struct grid g;
  cudaMalloc((void **)&g.from, n);
  cudaMalloc((void **)&g.to, n);
  cudaMemcpy(g.from, h, n, H2D);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, g.from, g.to);
    float *swap = g.from;
    g.from = g.to;
    g.to = swap;
  }
  cudaMemcpy(h, g.from, n, D2H);
  cudaFree(g.from);
  cudaFree(g.to);
}

// CHECK-LABEL: define {{.*}}@three(
// CHECK: {{^}}for.end:
// CHECK: [[A:%a[0-9a-z.]+]] = phi ptr
// CHECK: [[B:%b[0-9a-z.]+]] = phi ptr
// CHECK: [[C:%c[0-9a-z.]+]] = phi ptr
// CHECK-DAG: call void @__dragon_discard(ptr [[A]], i64 -1, ptr null)
// CHECK-DAG: call void @__dragon_discard(ptr [[C]], i64 -1, ptr null)
// CHECK-NOT: __dragon_discard
// CHECK: call i32 @cudaMemcpy(ptr {{.*}}, ptr {{.*}}[[B]],
void three(size_t n, int steps, void *h) {
  float *a, *b, *c;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMalloc((void **)&c, n);
  cudaMemcpy(a, h, n, H2D);
  cudaMemcpy(b, h, n, H2D);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(mix, a, b, c);
    float *first = a;
    a = b;
    b = c;
    c = first;
  }
  cudaMemcpy(h, b, n, D2H);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

// Not as often as the loop runs: it stays as it is.
// CHECK-LABEL: define {{.*}}@sometimes(
// CHECK: {{^}}for.end:
// CHECK-NEXT: call void @__dragon_discard(ptr %b.0, i64 -1, ptr null)
// CHECK-NEXT: call i32 @cudaMemcpy(ptr {{.*}}, ptr {{.*}}%a.0,
void sometimes(size_t n, int steps, int when, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    if (i % when == 0) {
      float *swap = a;
      a = b;
      b = swap;
    }
  }
  cudaMemcpy(h, a, n, D2H);
}

// The next round reads what the last has left, and may not overwrite all of the other one.
// CHECK-LABEL: define {{.*}}@rounds(
// CHECK-NOT: __dragon_discard
// CHECK: call i32 @cudaMemcpy(ptr {{.*}}, i32 {{.*}}2)
// CHECK: call void @__dragon_discard(ptr %b.0{{.*}}, i64 -1, ptr null)
// CHECK-NOT: __dragon_discard
// CHECK: ret void
void rounds(size_t n, int steps, int rounds, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < steps; ++i) {
      LAUNCH(step, a, b);
      float *swap = a;
      a = b;
      b = swap;
    }
    cudaMemcpy(h, a, n, D2H);
  }
  cudaMemcpy(h, a, n, D2H);
}

// CHECK-LABEL: define {{.*}}@byCondition(
// CHECK: [[LAST:%[a-z0-9.]+]] = select i1 [[ODD:%[a-z0-9.]+]], ptr [[B:%[a-z0-9.]+]], ptr [[A:%[a-z0-9.]+]]
// CHECK-NEXT: [[DEAD:%[a-z0-9.]+]] = select i1 [[ODD]], ptr [[A]], ptr [[B]]
// CHECK-NEXT: call void @__dragon_discard(ptr [[DEAD]], i64 -1, ptr null)
// CHECK-NEXT: call i32 @cudaMemcpy(ptr {{.*}}, ptr {{.*}}[[LAST]],
void byCondition(size_t n, int steps, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  LAUNCH(step, a, b);
  LAUNCH(step, b, a);
  cudaMemcpy(h, steps % 2 ? b : a, n, D2H);
}

// CHECK-LABEL: define {{.*}}@bothLater(
// CHECK-NOT: __dragon_discard
// CHECK: ret void
void bothLater(size_t n, int steps, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    float *swap = a;
    a = b;
    b = swap;
  }
  LAUNCH(mix, a, b, a);
}

// For all that is known, others look at b; a may be discarded where the result is in b.
// CHECK-LABEL: define {{.*}}@known(
// CHECK: [[A:%[0-9a-z]+]] = load ptr, ptr %a.slot
// CHECK: {{^}}for.end:
// CHECK-NEXT: [[DEAD:%dragon.dead[0-9]*]] = phi ptr
// CHECK-SAME: {{(\[ null, .*\[ |\[ )}}[[A]]
// CHECK: call void @__dragon_discard(ptr [[DEAD]], i64 -1, ptr null)
// CHECK-NOT: __dragon_discard
// CHECK: ret void
void known(size_t n, int steps, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  unknown(b);
  cudaMemcpy(a, h, n, H2D);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    float *swap = a;
    a = b;
    b = swap;
  }
  cudaMemcpy(h, a, n, D2H);
}

// Each may be either where the loop begins.
// CHECK-LABEL: define {{.*}}@same(
// CHECK-NOT: __dragon_discard
// CHECK: ret void
void same(size_t n, int steps, int which, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  cudaMemcpy(b, h, n, H2D);
  float *from = a;
  if (which == 1)
    from = b;
  float *to = b;
  if (which == 2)
    to = a;
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, from, to);
    float *swap = from;
    from = to;
    to = swap;
  }
  LAUNCH(read, from);
}

// The host may look at managed memory later than the program says.
// CHECK-LABEL: define {{.*}}@managed(
// CHECK: {{^}}for.end:
// CHECK-NOT: __dragon_discard
// CHECK: {{^}}}
float managed(size_t n, int steps, void *h) {
  float *a, *b, sum = 0;
  cudaMallocManaged((void **)&a, n, 1);
  cudaMallocManaged((void **)&b, n, 1);
  cudaMemcpy(a, h, n, H2D);
  float *from = a, *to = b;
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, from, to);
    float *swap = from;
    from = to;
    to = swap;
  }
  cudaDeviceSynchronize();
  for (size_t i = 0; i < n / 4; ++i)
    sum += from[i] + (i % 2 ? a : b)[i];
  return sum;
}
