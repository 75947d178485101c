// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t > %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: FileCheck %s --check-prefix=LOOPS < %t.ll
// RUN: llc -filetype=null %t.ll

// Loops of the host's own, in functions that directives are inserted into, become functions: their registers are not
// shared with the buffers' addresses. What is known of their memory is told.
#include "cuda.h"

KERNEL1(scale, float *)

// Input and check, each by itself; two allocations are no aliases of each other.
// CHECK-LABEL: define {{.*}}@apart(
// CHECK: call i32 @__dragon_malloc(
// CHECK: call void @apart.loop{{[.0-9]*}}(
// CHECK: call i32 @cudaMemcpy(
// CHECK: call void @apart.loop{{[.0-9]*}}(
// CHECK: ret
float apart(long n) {
  float *h = malloc(n * 4), *copy = malloc(n * 4), *d, sum = 0;
  cudaMalloc((void **)&d, n * 4);
  for (long i = 0; i < n; ++i)
    h[i] = copy[i] = i;
  cudaMemcpy(d, h, n * 4, H2D);
  LAUNCH(scale, d);
  cudaMemcpy(h, d, n * 4, D2H);
  for (long i = 0; i < n; ++i)
    sum += h[i] * copy[i];
  cudaFree(d);
  printf("%p %p", h, copy);
  return sum;
}

// The loop over launches stays, and what is in it goes.
// CHECK-LABEL: define {{.*}}@inner(
// CHECK: call void @inner.loop{{[.0-9]*}}({{.*}}ptr %given)
// CHECK: call void @__device_stub__scale
// CHECK: ret void
void inner(float *given, long n, int rounds) {
  float *d;
  cudaMalloc((void **)&d, n * 4);
  for (int round = 0; round < rounds; ++round) {
    for (long i = 0; i < n; ++i)
      given[i] = round;
    cudaMemcpy(d, given, n * 4, H2D);
    LAUNCH(scale, d);
  }
  cudaFree(d);
}

// Loops that make calls, or reach the function's variables, stay.
// CHECK-LABEL: define {{.*}}@stays(
// CHECK-NOT: @stays.loop
// CHECK: ret void
void stays(float *given, long n) {
  float *d, table[16];
  cudaMalloc((void **)&d, n * 4);
  for (long i = 0; i < 16; ++i)
    table[i] = i;
  for (long i = 0; i < n; ++i)
    given[i] = table[given[i] > 7 ? 3 : i % 16];
  for (long i = 0; i < n; ++i)
    printf("%f", given[i]);
  cudaMemcpy(d, given, n * 4, H2D);
  LAUNCH(scale, d);
  cudaFree(d);
}

// A function without directives is as it was.
// CHECK-LABEL: define {{.*}}@untouched(
// CHECK-NOT: @untouched.loop
// CHECK: ret void
void untouched(float *given, long n) {
  for (long i = 0; i < n; ++i)
    given[i] = i;
}

// LOOPS: define internal void @apart.loop{{[.0-9]*}}(i64 %n, ptr noalias %{{[a-z0-9]+}}, ptr noalias %{{[a-z0-9]+}}
// LOOPS: define internal void @inner.loop{{[.0-9]*}}(i64 %n, i32 %{{[a-z0-9.]+}}, ptr %given) #[[ATTRIBUTES:[0-9]+]]
// LOOPS: attributes #[[ATTRIBUTES]] = {{.*}}noinline
