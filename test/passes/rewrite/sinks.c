// RUN: dragon-summary %t.sm_90 'write: write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t | FileCheck %s

// Hints that a buffer will be written to a file, by each call that writes.
#include "cuda.h"

KERNEL1(write, float *)

// CHECK-LABEL: define {{.*}}@byDescriptor(
// CHECK: [[FD:%[0-9a-z]+]] = call i32 (ptr, i32, ...) @open(
// CHECK: call void @__dragon_will_write(ptr [[D:%[0-9a-z]+]], i64 %n, i32 [[FD]])
// CHECK-NEXT: call void @__device_stub__write(ptr {{.*}}[[D]])
void byDescriptor(size_t n, char *path) {
  float *h = malloc(n), *d;
  int fd = open(path, 1);
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  write(fd, h, n);
  close(fd);
}

// CHECK-LABEL: define {{.*}}@atOffset(
// CHECK: [[FD:%[0-9a-z]+]] = call i32 (ptr, i32, ...) @open(
// CHECK: call void @__dragon_will_pwrite(ptr [[D:%[0-9a-z]+]], i64 %n, i32 [[FD]], i64 %offset)
// CHECK-NEXT: call void @__device_stub__write(ptr {{.*}}[[D]])
void atOffset(size_t n, char *path, long offset) {
  float *h = malloc(n), *d;
  int fd = open(path, 1);
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  pwrite(fd, h, n, offset);
  close(fd);
}

// The offset is known too late.
// CHECK-LABEL: define {{.*}}@atLateOffset(
// CHECK-NOT: __dragon_will
// CHECK: ret void
void atLateOffset(size_t n, char *path, long *offset) {
  float *h = malloc(n), *d;
  int fd = open(path, 1);
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  pwrite(fd, h, n, *offset);
  close(fd);
}

// In front of the loop.
// CHECK-LABEL: define {{.*}}@loop(
// CHECK: call void @__dragon_will_fwrite(ptr
// CHECK-NEXT: br label %[[COND:[a-z.0-9]+]]
// CHECK: call void @__device_stub__write(
// CHECK-NOT: __dragon_will
// CHECK: ret void
void loop(size_t n, char *path, int steps) {
  float *h = malloc(n), *d;
  FILE *f = fopen(path, "wb");
  cudaMalloc((void **)&d, n);
  for (int i = 0; i < steps; ++i)
    LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  fwrite(h, 1, n, f);
  fclose(f);
}

// CHECK-LABEL: define {{.*}}@openedLate(
// CHECK-NOT: __dragon_will
// CHECK: ret void
void openedLate(size_t n, char *path) {
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  FILE *f = fopen(path, "wb");
  fwrite(h, 1, n, f);
  fclose(f);
}
