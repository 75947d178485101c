// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t | FileCheck %s

// Each call that may move bytes through a staging buffer has its twin; a call of
// the same name for other memory is left alone.
#include "cuda.h"

KERNEL1(scale, float *)
long pwrite64(int, const void *, size_t, long);
size_t fread_unlocked(void *, size_t, size_t, FILE *);

// CHECK-LABEL: define {{.*}}@calls(
void calls(size_t n, FILE *f, int fd, cudaStream_t stream) {
  char header[16];
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  // CHECK: call i64 @fread(ptr {{.*}}%arraydecay,
  fread(header, 1, 16, f);
  // CHECK: call i64 @__dragon_stage_fread(ptr [[H:%[0-9a-z]+]], i64 1, i64 %{{.*}}, ptr %f)
  fread(h, 1, n, f);
  // CHECK: call i64 @__dragon_stage_fread(ptr [[H]],
  fread_unlocked(h, 1, n, f);
  // CHECK: call i64 @__dragon_stage_read(i32 %fd, ptr [[H]], i64
  read(fd, h, n);
  // In the middle of the buffer.
  // CHECK: [[MIDDLE:%[0-9a-z.]+]] = getelementptr {{.*}}ptr [[H]], i64 4
  // CHECK: call i64 @__dragon_stage_pread(i32 %fd, ptr [[MIDDLE]], i64
  pread(fd, h + 4, n - 16, 16);
  // CHECK: call i32 @__dragon_stage_memcpy_async(ptr %{{[0-9a-z]+}}, ptr [[H]], i64 %{{[0-9a-z]+}}, i32 1, ptr %stream)
  cudaMemcpyAsync(d, h, n, H2D, stream);
  LAUNCH_ON(stream, scale, d);
  // CHECK: call i32 @__dragon_stage_memcpy(
  cudaMemcpy(h, d, n, D2H);
  // CHECK: call i64 @write(i32 {{.*}}%fd, ptr {{.*}}%arraydecay
  write(fd, header, 16);
  // CHECK: call i64 @__dragon_stage_write(i32 %fd, ptr [[H]],
  write(fd, h, n);
  // CHECK: call i64 @__dragon_stage_pwrite(i32 %fd, ptr [[H]], i64 %{{[0-9a-z]+}}, i64 0)
  pwrite(fd, h, n, 0);
  // CHECK: call i64 @__dragon_stage_pwrite(i32 %fd, ptr [[H]],
  pwrite64(fd, h, n, 0);
  // CHECK: call i64 @__dragon_stage_fwrite(ptr [[H]], i64 1, i64 %{{[0-9a-z]+}}, ptr %f)
  fwrite(h, 1, n, f);
  // CHECK: call void @__dragon_stage_forget(ptr [[H]], i64 %n)
  // CHECK-NEXT: call void @free(ptr {{.*}}[[H]])
  free(h);
  cudaFree(d);
}

// A loop that reads in pieces.
// CHECK-LABEL: define {{.*}}@pieces(
// CHECK: call i64 @__dragon_stage_fread(
// CHECK: call i32 @__dragon_stage_memcpy(
void pieces(size_t n, FILE *f) {
  float *h = malloc(4096), *d;
  cudaMalloc((void **)&d, n);
  for (size_t at = 0; at < n; at += 4096) {
    size_t got = fread(h, 1, 4096, f);
    cudaMemcpy((char *)d + at, h, got, H2D);
  }
  LAUNCH(scale, d);
  free(h);
}

// What is freed may be one of two buffers, of different sizes.
// CHECK-LABEL: define {{.*}}@either(
// CHECK: [[TWICE:%[0-9a-z]+]] = mul i64 2, %n
// CHECK: select i1 %{{[0-9]+}}, i64 %n, i64 -1
// CHECK: select i1 %{{[0-9]+}}, i64 [[TWICE]]
// CHECK: call void @__dragon_stage_forget(ptr [[ANY:%[0-9a-z.]+]], i64 %{{[0-9]+}})
// CHECK-NEXT: call void @free(ptr {{.*}}[[ANY]])
void either(size_t n, int which, FILE *f) {
  float *a = malloc(n), *b = malloc(2 * n), *d;
  cudaMalloc((void **)&d, n);
  fread(a, 1, n, f);
  cudaMemcpy(d, a, n, H2D);
  fread(b, 1, n, f);
  cudaMemcpy(d, b, n, H2D);
  LAUNCH(scale, d);
  free(which ? a : b);
}

// Not a byte of it comes from a file.
// CHECK-LABEL: define {{.*}}@filledByHost(
// CHECK-NOT: __dragon_stage
// CHECK: ret void
void filledByHost(size_t n) {
  float *h = calloc(n, 4), *d;
  cudaMalloc((void **)&d, 4 * n);
  h[0] = 1;
  cudaMemcpy(d, h, 4 * n, H2D);
  LAUNCH(scale, d);
  free(h);
}
