// RUN: dragon-summary %t.sm_90 'scale: read write'
// RUN: %host-ir -O0 %s | %directives -dragon-summary=%t | FileCheck %s
// RUN: %host-ir -O2 %s | %directives -dragon-summary=%t | FileCheck %s
// RUN: %host-ir -O0 %s | %directives -dragon-summary=%t -dragon-staging=false \
// RUN:   | FileCheck --check-prefix=STAGED %s

// Every directive in one program.
#include "cuda.h"

KERNEL2(scale, const float *, float *)

// CHECK: @dragon.name = {{.*}} c"d_in\00"
// CHECK: @dragon.where = private constant {{.*}} { ptr @dragon.name, ptr @dragon.name{{.*}}, i32 [[#@LINE+16]], i32 3 }
// CHECK-LABEL: define{{.*}} i32 @main(
// CHECK: [[IN:%[0-9a-z]+]] = call ptr @fopen(
// CHECK: [[OUT:%[0-9a-z]+]] = call ptr @fopen(
int main(int argc, char **argv) {
  size_t n = argc;
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  // CHECK: [[H_IN:%[0-9a-z]+]] = call {{.*}} @malloc(
  // CHECK: [[H_OUT:%[0-9a-z]+]] = call {{.*}} @malloc(
  float *h_in = malloc(4 * n), *h_out = malloc(4 * n), *d_in, *d_out;
  // CHECK: call i64 @__dragon_stage_fread(ptr [[H_IN]], i64 4, i64 %{{.*}}, ptr [[IN]])
  // STAGED: call i64 @fread(
  fread(h_in, 4, n, in);
  // The flags: D_READ, D_WRITE.
  // CHECK: call i32 @__dragon_malloc(ptr %d_in.slot, i64 [[BYTES:%[0-9a-z]+]], i32 1, ptr @dragon.where)
  // STAGED: call i32 @__dragon_malloc(
  cudaMalloc((void **)&d_in, 4 * n);
  // CHECK: [[D_IN:%[0-9a-z_]+]] = load ptr, ptr %d_in.slot
  // CHECK: call i32 @__dragon_malloc(ptr %d_out.slot, i64 [[BYTES_OUT:%[0-9a-z]+]], i32 2, ptr @dragon.where.{{.*}})
  cudaMalloc((void **)&d_out, 4 * n);
  // CHECK: [[D_OUT:%[0-9a-z_]+]] = load ptr, ptr %d_out.slot
  // CHECK: call i32 @__dragon_stage_memcpy(ptr [[D_IN]], ptr [[H_IN]], i64 %{{.*}}, i32 1)
  // CHECK-NEXT: call void @__dragon_stage_forget(ptr [[H_IN]], i64 %{{[0-9a-z]+}})
  // STAGED: call i32 @cudaMemcpy(
  // STAGED-NOT: __dragon_stage
  // STAGED-NOT: __dragon_will
  cudaMemcpy(d_in, h_in, 4 * n, H2D);
  // CHECK: call void @__dragon_will_fwrite(ptr [[D_OUT]], i64 [[BYTES_OUT]], ptr [[OUT]])
  // CHECK-NEXT: call void @__dragon_last_use(i32 1, ptr [[D_IN]], i64 -1)
  // CHECK-NEXT: call void @__device_stub__scale(ptr {{.*}}[[D_IN]], ptr {{.*}}[[D_OUT]])
  // STAGED: call void @__dragon_last_use(
  // STAGED-NEXT: call void @__device_stub__scale(
  LAUNCH(scale, d_in, d_out);
  // CHECK: call i32 @__dragon_stage_memcpy(ptr [[H_OUT]], ptr [[D_OUT]], i64 %{{.*}}, i32 2)
  cudaMemcpy(h_out, d_out, 4 * n, D2H);
  // CHECK: call i64 @__dragon_stage_fwrite(ptr [[H_OUT]], i64 4, i64 %{{.*}}, ptr [[OUT]])
  // CHECK-NEXT: call void @__dragon_stage_forget(ptr [[H_OUT]], i64 %{{[0-9a-z]+}})
  fwrite(h_out, 4, n, out);
  // CHECK-NEXT: call i32 @cudaFree(ptr {{.*}}[[D_IN]])
  cudaFree(d_in);
  // CHECK-NEXT: call void @__dragon_discard(ptr [[D_OUT]], i64 -1, ptr null)
  // CHECK-NEXT: call i32 @cudaFree(ptr {{.*}}[[D_OUT]])
  cudaFree(d_out);
  // CHECK-NEXT: call void @__dragon_stage_forget(ptr [[H_IN]], i64 %{{[0-9a-z]+}})
  // CHECK-NEXT: call void @free(ptr {{.*}}[[H_IN]])
  free(h_in);
  free(h_out);
  return 0;
}
