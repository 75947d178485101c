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

// A path that fails uses the file: it is what the program made of it.
// CHECK-LABEL: define {{.*}}@failing(
// CHECK: call void @__dragon_will_fwrite(ptr [[D:%[0-9a-z]+]], i64 %n,
// CHECK: call void @__dragon_sink_ends(ptr {{.*}}, i64 {{.*}}, i32 1)
// CHECK-NEXT: call i32 @fseek(
// CHECK: call void @exit(
// CHECK: ret void
void failing(size_t n, char *path) {
  float *h = malloc(n), *d;
  FILE *f = fopen(path, "wb");
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  if (cudaMemcpy(h, d, n, D2H)) {
    fseek(f, 0, 0);
    exit(1);
  }
  fwrite(h, 1, n, f);
  fclose(f);
}

// The file is made by a call of ours, which may give a file that is there a name.
// CHECK-LABEL: define {{.*}}@madeLate(
// CHECK: call void @__dragon_will_create(ptr [[D:%[0-9a-z]+]], i64 %n, ptr %path)
// CHECK-NEXT: call void @__device_stub__write(ptr {{.*}}[[D]])
// CHECK: call ptr @__dragon_fopen(ptr {{.*}}%path,
// CHECK-NOT: @fopen(
// CHECK: ret void
void madeLate(size_t n, char *path) {
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  FILE *f = fopen(path, "wb");
  fwrite(h, 1, n, f);
  fclose(f);
}

// What the path will be is not there yet: memory of the function's own.
// CHECK-LABEL: define {{.*}}@pathComposed(
// CHECK-NOT: __dragon_will
// CHECK: call ptr @fopen(
// CHECK: ret void
void fillIn(char *path);
void pathComposed(size_t n) {
  char path[100];
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  fillIn(path);
  FILE *f = fopen(path, "wb");
  fwrite(h, 1, n, f);
  fclose(f);
}

// CHECK-LABEL: define {{.*}}@pathAllocated(
// CHECK-NOT: __dragon_will
// CHECK: call ptr @fopen(
// CHECK: ret void
void pathAllocated(size_t n) {
  char *path = malloc(100);
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  fillIn(path);
  FILE *f = fopen(path, "wb");
  fwrite(h, 1, n, f);
  fclose(f);
}

// CHECK-LABEL: define {{.*}}@pathConstant(
// CHECK: call void @__dragon_will_create(ptr [[D:%[0-9a-z]+]], i64 %n, ptr {{.*}}@{{.*}})
// CHECK-NEXT: call void @__device_stub__write(ptr {{.*}}[[D]])
// CHECK: call ptr @__dragon_fopen(
// CHECK: ret void
void pathConstant(size_t n) {
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  FILE *f = fopen("out.bin", "w");
  fwrite(h, 1, n, f);
  fclose(f);
}

// Nor is this one: it is loaded later.
// CHECK-LABEL: define {{.*}}@pathLate(
// CHECK-NOT: __dragon_will
// CHECK: call ptr @fopen(
// CHECK: ret void
void pathLate(size_t n, char **paths) {
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  FILE *f = fopen(paths[1], "wb");
  fwrite(h, 1, n, f);
  fclose(f);
}

// What the file holds stays.
// CHECK-LABEL: define {{.*}}@appendedLate(
// CHECK-NOT: __dragon_will
// CHECK: call ptr @fopen(
// CHECK: ret void
void appendedLate(size_t n, char *path) {
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  FILE *f = fopen(path, "ab");
  fwrite(h, 1, n, f);
  fclose(f);
}

// By a descriptor.
// CHECK-LABEL: define {{.*}}@openedLate(
// CHECK-NOT: __dragon_will
// CHECK: ret void
void openedLate(size_t n, char *path) {
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(write, d);
  cudaMemcpy(h, d, n, D2H);
  int fd = open(path, 1);
  write(fd, h, n);
  close(fd);
}
