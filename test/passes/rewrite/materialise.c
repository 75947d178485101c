// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t | FileCheck %s

// The contents are made real in front of host code that looks at them, once for
// a loop; before the first transfer there is nothing to make real.
#include "cuda.h"

KERNEL1(scale, float *)
int memcmp(const void *, const void *, size_t);

// CHECK-LABEL: define {{.*}}@verify(
// CHECK: store float
// CHECK: call i64 @__dragon_stage_fread(
// CHECK: call i64 @__dragon_stage_fwrite(
// CHECK-NEXT: [[BYTES:%[0-9]+]] = mul i64 %n, 4
// CHECK-NEXT: call void @__dragon_stage_materialise(ptr [[H:%[0-9a-z]+]], i64 [[BYTES]])
// CHECK-NEXT: br label
// CHECK: load float, ptr
// CHECK-NOT: materialise
// CHECK: ret float
float verify(size_t n, FILE *in, FILE *out) {
  float *h = calloc(n, 4), *d, sum = 0;
  h[0] = 1;
  cudaMalloc((void **)&d, 4 * n);
  fread(h, 4, n, in);
  cudaMemcpy(d, h, 4 * n, H2D);
  LAUNCH(scale, d);
  cudaMemcpy(h, d, 4 * n, D2H);
  fwrite(h, 4, n, out);
  for (size_t i = 0; i < n; ++i)
    sum += h[i];
  free(h);
  return sum;
}

// CHECK-LABEL: define {{.*}}@compare(
// CHECK: call i32 @__dragon_stage_memcpy(
// CHECK: call void @__dragon_stage_materialise(ptr [[H:%[0-9a-z]+]], i64 %n)
// CHECK-NEXT: call i32 @memcmp(ptr {{.*}}[[H]],
int compare(size_t n, FILE *in, void *expected) {
  float *h = malloc(n), *d;
  cudaMalloc((void **)&d, n);
  fread(h, 1, n, in);
  cudaMemcpy(d, h, n, H2D);
  int result = memcmp(h, expected, n);
  LAUNCH(scale, d);
  free(h);
  return result;
}

// A part: from the first row's left end to the last row's right one. Where the
// numbers do not fit into 63 bits it is all of the buffer.
// CHECK-LABEL: define {{.*}}@region(
// CHECK: call i32 @__dragon_stage_memcpy(
// CHECK: [[AT:%[0-9]+]] = ptrtoint ptr %{{.*}} to i64
// CHECK: [[WAY:%[0-9]+]] = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 4,
// CHECK: call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %{{.*}}, i64
// CHECK: [[HERE:%[0-9]+]] = select i1 [[WRONG:%[0-9]+]], ptr [[H:%[0-9a-z]+]], ptr
// CHECK: [[BYTES:%[0-9]+]] = select i1 [[WRONG]], i64 %mul1, i64
// CHECK: call void @__dragon_stage_materialise(ptr [[HERE]], i64 [[BYTES]])
// CHECK-NOT: materialise
// CHECK: ret float
float region(long rows, long columns, long top, long bottom, FILE *in,
             FILE *out) {
  const size_t n = rows * columns * sizeof(float);
  float *h = malloc(n), *d, sum = 0;
  cudaMalloc((void **)&d, n);
  fread(h, 1, n, in);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(scale, d);
  cudaMemcpy(h, d, n, D2H);
  for (long i = top; i < bottom; ++i)
    for (long j = 1; j < 9; ++j)
      sum += h[i * columns + j];
  fwrite(h, 1, n, out);
  free(h);
  return sum;
}
