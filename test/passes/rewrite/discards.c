// RUN: dragon-summary %t.sm_90 'read: read' 'write: write' 'step: read write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t | FileCheck %s

// Where contents die, with the operands that are there.
#include "cuda.h"

KERNEL1(read, float *)
KERNEL1(write, float *)
KERNEL2(step, float *, float *)
void unknown(float *);

// CHECK-LABEL: define {{.*}}@afterLastUse(
// CHECK: call void @__dragon_last_use_eagerly(i32 1, ptr [[D:%[0-9a-z]+]], i64 -1)
// CHECK-NEXT: call void @__device_stub__read(ptr {{.*}}[[D]])
void afterLastUse(size_t n, void *h) {
  float *d, *e;
  cudaMalloc((void **)&d, n);
  cudaMalloc((void **)&e, n);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(read, d);
  LAUNCH(write, e);
  cudaMemcpy(h, e, n, D2H);
}

// CHECK-LABEL: define {{.*}}@stillNeeded(
// CHECK-NOT: __dragon_discard
// CHECK: ret void
void stillNeeded(size_t n, void *h) {
  float *d, *e;
  cudaMalloc((void **)&d, n);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(read, d);
  cudaMalloc((void **)&e, n);
  cudaMemcpy(h, d, n, D2H);
}

// Only a part is overwritten: that part is dead.
// CHECK-LABEL: define {{.*}}@partly(
// CHECK: call void @__dragon_last_use(i32 1, ptr [[D:%[0-9a-z]+]], i64 [[HALF:%[a-z0-9.]+]])
// CHECK-NEXT: call void @__device_stub__read(ptr {{.*}}[[D]])
// CHECK: call i32 @cudaMemset(ptr {{.*}}, i32 {{.*}}0, i64
void partly(size_t n, void *h) {
  float *d;
  const size_t half = n / 2;
  cudaMalloc((void **)&d, n);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(read, d);
  cudaMemset(d, 0, half);
  LAUNCH(read, d);
}

// In front of each fill what that fill overwrites, the last one's too.
// CHECK-LABEL: define {{.*}}@partlyInLoop(
// CHECK: [[BYTES:%[a-z0-9.]+]] = freeze i64
// CHECK-NEXT: call void @__dragon_discard(ptr {{.*}}, i64 [[BYTES]], ptr null)
// CHECK-NEXT: call i32 @cudaMemset(
void partlyInLoop(size_t n, void *h, int rounds) {
  float *d;
  const size_t half = n / 2;
  cudaMalloc((void **)&d, n);
  cudaMemset(d, 1, n);
  for (int i = 0; i < rounds; ++i)
    cudaMemset(d, 0, half);
  cudaMemcpy(h, d, n, D2H);
}

// As much as is asked for by a caller, each time.
// CHECK-LABEL: define {{.*}}@uploads(
// CHECK: call void @__dragon_last_use(i32 1, ptr {{.*}}, i64
// CHECK-NEXT: call void @__device_stub__read(
void uploads(size_t n, size_t used, void *h, int rounds) {
  float *d;
  cudaMalloc((void **)&d, n);
  for (int i = 0; i < rounds; ++i) {
    cudaMemcpy(d, h, used, H2D);
    LAUNCH(read, d);
  }
}

// How much that will be is not known yet.
// CHECK-LABEL: define {{.*}}@grows(
// CHECK-NOT: __dragon_last_use
// CHECK: ret void
size_t more(void *);
void grows(size_t n, void *h, int rounds) {
  float *d;
  cudaMalloc((void **)&d, n);
  for (int i = 0; i < rounds; ++i) {
    cudaMemcpy(d, h, more(h), H2D);
    LAUNCH(read, d);
  }
}

// The rest is kept by who reads it first.
// CHECK-LABEL: define {{.*}}@readFirst(
// CHECK-NOT: __dragon_last_use(
// CHECK: call void @__device_stub__read(
// CHECK: call void @__dragon_last_use(i32 1, ptr {{.*}}, i64 %
// CHECK-NEXT: call void @__device_stub__step(
void readFirst(size_t n, void *h) {
  float *d, *e;
  cudaMalloc((void **)&d, n);
  cudaMalloc((void **)&e, n);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(read, d);
  LAUNCH(step, d, e);
  cudaMemset(d, 0, n / 2);
  LAUNCH(read, d);
}

// CHECK-LABEL: define {{.*}}@overwritten(
// CHECK: call void @__dragon_last_use(
// CHECK-NEXT: call void @__device_stub__read(
// CHECK: call i32 @cudaMemset(
void overwritten(size_t n, void *h) {
  float *d;
  cudaMalloc((void **)&d, n);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(read, d);
  cudaMemset(d, 0, n);
  LAUNCH(read, d);
}

// In its stream: with the launch.
// CHECK-LABEL: define {{.*}}@inStream(
// CHECK: call void @__dragon_last_use_eagerly(i32 1, ptr [[D:%[0-9a-z]+]], i64 -1)
// CHECK-NEXT: call void @__device_stub__read(ptr {{.*}}[[D]])
void inStream(size_t n, void *h, cudaStream_t stream) {
  float *d, *e;
  cudaMalloc((void **)&d, n);
  cudaMalloc((void **)&e, n);
  cudaMemcpyAsync(d, h, n, H2D, stream);
  LAUNCH_ON(stream, read, d);
  LAUNCH_ON(stream, write, e);
  cudaMemcpy(h, e, n, D2H);
}

// CHECK-LABEL: define {{.*}}@beforeFree(
// CHECK: call void @__dragon_discard(ptr [[D:%[0-9a-z]+]], i64 -1, ptr null)
// CHECK-NEXT: call i32 @cudaFree(ptr {{.*}}[[D]])
void beforeFree(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaFree(d);
}

// Others may look at it after it is freed here, for all that is known.
// CHECK-LABEL: define {{.*}}@known(
// CHECK-NOT: __dragon_discard
// CHECK: ret void
void known(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  unknown(d);
  LAUNCH(write, d);
  cudaFree(d);
}

// Which of the two is freed depends on the number of steps, but not that it is the one that is not read.
// CHECK-LABEL: define {{.*}}@swapped(
// CHECK: [[A:%a[0-9a-z.]+]] = phi ptr
// CHECK: call void @__dragon_discard(ptr [[A]], i64 -1, ptr null)
// CHECK-NEXT: call i32 @cudaFree(ptr {{.*}}[[A]])
// CHECK-NOT: __dragon_discard
// CHECK: ret void
void swapped(size_t n, int steps) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, a, b);
    float *swap = a;
    a = b;
    b = swap;
  }
  cudaFree(a);
  LAUNCH(read, b);
}
