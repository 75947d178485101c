// RUN: dragon-summary %t.sm_90 'read: read' 'step: read write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t | FileCheck %s

// When contents are needed again, said right after they were used.
#include "cuda.h"

KERNEL1(read, float *)
KERNEL2(step, float *, float *)

// CHECK-LABEL: define {{.*}}@inBetween(
// CHECK: call {{.*}}@__device_stub__read(ptr {{[a-z]* *}}[[A:%[0-9a-z]+]])
// CHECK-NEXT: call void @__dragon_next_use(ptr [[A]], i32 1)
// CHECK: call {{.*}}@__device_stub__step(
// The copy out needs it no longer on the device.
// CHECK-NEXT: call void @__dragon_next_use(ptr [[C:%[0-9a-z]+]], i32 -1)
// CHECK: call {{.*}}@__device_stub__read(ptr {{[a-z]* *}}[[A]])
// CHECK-NOT: __dragon_next_use
// CHECK: ret void
void inBetween(size_t n, void *h) {
  float *a, *b, *c;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMalloc((void **)&c, n);
  cudaMemcpy(a, h, n, H2D);
  LAUNCH(read, a);
  LAUNCH(step, b, c);
  LAUNCH(read, a);
  cudaMemcpy(h, c, n, D2H);
}

// The host is busy before the next launch: that is a good time.
// CHECK-LABEL: define {{.*}}@whileTheHostIsBusy(
// CHECK: call {{.*}}@__device_stub__read(ptr {{[a-z]* *}}[[A:%[0-9a-z]+]])
// CHECK-NEXT: call void @__dragon_next_use(ptr [[A]], i32 -1)
// CHECK-NEXT: call void @__dragon_next_use(ptr [[B:%[0-9a-z]+]], i32 0)
// CHECK-NOT: __dragon_next_use
// CHECK: ret void
void whileTheHostIsBusy(size_t n, void *h) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  cudaMemcpy(b, h, n, H2D);
  LAUNCH(read, a);
  cudaMemcpy(h, a, n, D2H);
  LAUNCH(read, b);
}
