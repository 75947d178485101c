// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t | FileCheck %s

// A staging buffer that is not allocated on all paths, as std::vector does it:
// where its address is not at hand, a variable remembers it.
#include "cuda.h"

KERNEL1(scale, float *)

// CHECK-LABEL: define {{.*}}@looked(
// CHECK: [[ADDRESS:%dragon.address[0-9]*]] = alloca ptr
// CHECK: [[BYTES:%dragon.bytes[0-9]*]] = alloca i64
// CHECK: store ptr null, ptr [[ADDRESS]]
// CHECK: store i64 0, ptr [[BYTES]]
// CHECK: [[H:%[0-9a-z]+]] = call {{.*}}ptr @malloc(i64 noundef %n)
// CHECK: store ptr [[H]], ptr [[ADDRESS]]
// CHECK: store i64 %n, ptr [[BYTES]]
// CHECK: call i64 @__dragon_stage_fread(
// CHECK: call i32 @__dragon_stage_memcpy(
// CHECK: [[A:%[0-9]+]] = load ptr, ptr [[ADDRESS]]
// CHECK: [[B:%[0-9]+]] = load i64, ptr [[BYTES]]
// CHECK: [[FROM:%[0-9]+]] = select i1 %{{[0-9]+}}, ptr [[A]], ptr
// CHECK: [[PART:%[0-9]+]] = select i1 %{{[0-9]+}}, i64 [[B]], i64
// CHECK: call void @__dragon_stage_materialise(ptr [[FROM]], i64 [[PART]])
// CHECK: load float, ptr
// CHECK: [[IS:%[0-9]+]] = icmp eq ptr [[P:%[0-9a-z.]+]], %{{[0-9]+}}
// CHECK: [[SIZE:%[0-9]+]] = select i1 [[IS]], i64 %{{[0-9]+}}, i64 -1
// CHECK: call void @__dragon_stage_forget(ptr [[P]], i64 [[SIZE]])
// CHECK-NEXT: call void @free(ptr {{.*}}[[P]])
float looked(size_t n, FILE *in) {
  float *h = n ? malloc(n) : NULL, *d;
  cudaMalloc((void **)&d, n);
  fread(h, 1, n, in);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(scale, d);
  float first = h[0];
  free(h);
  return first;
}

// Initialised before the first transfer: nothing to remember it for but its end.
// CHECK-LABEL: define {{.*}}@initialised(
// CHECK: call void @llvm.memset
// CHECK-NOT: materialise
// CHECK: call i64 @__dragon_stage_fread(
// CHECK-NOT: materialise
// CHECK: ret void
void initialised(size_t n, FILE *in) {
  float *h = n ? malloc(n) : NULL, *d;
  if (h)
    __builtin_memset(h, 0, n);
  cudaMalloc((void **)&d, n);
  fread(h, 1, n, in);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(scale, d);
  free(h);
}

// One call makes several buffers, and the host looks at one of them: which, and
// so what to fill, is not known.
// CHECK-LABEL: define {{.*}}@several(
// CHECK-NOT: __dragon_stage
// CHECK: ret float
float several(size_t n, int count, FILE *in) {
  float *h[16], *d;
  cudaMalloc((void **)&d, n);
  for (int i = 0; i < count; ++i) {
    h[i] = malloc(n);
    fread(h[i], 1, n, in);
    cudaMemcpy(d, h[i], n, H2D);
    LAUNCH(scale, d);
  }
  return h[count / 2][0];
}

// Several, read in two parts that do not touch: what is left of one when it is
// freed could not be told.
// CHECK-LABEL: define {{.*}}@parts(
// CHECK-NOT: __dragon_stage
// CHECK: ret void
void parts(size_t n, int count, FILE *in) {
  float *h[16], *d;
  cudaMalloc((void **)&d, 3 * n);
  for (int i = 0; i < count; ++i) {
    h[i] = malloc(3 * n);
    fread(h[i], 1, n, in);
    fread((char *)h[i] + 2 * n, 1, n, in);
    cudaMemcpy(d, h[i], 3 * n, H2D);
    LAUNCH(scale, d);
  }
  for (int i = 0; i < count; ++i)
    free(h[i]);
}
