// RUN: %host-ir -O1 %s -o %t.ll
// RUN: %buffer-program < %t.ll -dragon-library-summaries=%S/Inputs/library.yaml 2>&1 | FileCheck %s
// RUN: %directives < %t.ll -dragon-library-summaries=%S/Inputs/library.yaml | FileCheck %s --check-prefix=IR
// RUN: %buffer-program < %t.ll 2>&1 | FileCheck %s --check-prefix=NONE

// Contents die where a library function overwrites them next, in the stream of
// its handle. Without summaries nothing dies.
#include "library.h"

// NONE-NOT: discard

static const float one = 1, zero = 0;
static void gemm(blasHandle handle, int n, const float *beta, float *a, float *b, float *c) {
  blasSgemm(handle, 0, 0, n, n, n, &one, a, n, b, n, beta, c, n);
}
static void allocate(float **to, int n) { cudaMalloc((void **)to, n * n * sizeof(float)); }

// CHECK-LABEL: buffer program of repeated:
// CHECK: after blasSgemm (line {{[0-9]+}}): discard c{{$}}
// CHECK: passed: 'c' discarded after 'blasSgemm': overwritten by 'blasSgemm' at line {{[0-9]+}} before any read
// IR-LABEL: define {{.*}} @repeated(
// IR: call i32 @blasSgemm_v2
// IR: call i32 @blasSgemm_v2
// IR: call void @__dragon_discard(ptr %c{{[0-9]*}}, i64 -1, ptr null)
// IR: br
void repeated(int n, int steps) {
  float *a, *b, *c, *d;
  blasHandle handle;
  blasCreate(&handle);
  allocate(&a, n);
  allocate(&b, n);
  allocate(&c, n);
  allocate(&d, n);
  for (int i = 0; i < steps; ++i) {
    gemm(handle, n, &zero, a, b, c);
    gemm(handle, n, &one, c, b, d);
  }
  cudaFree(c);
}

// Added to: alive all the time.
// CHECK-LABEL: buffer program of added:
// CHECK-NOT: after {{.*}}: discard c
void added(int n, int steps) {
  float *a, *b, *c;
  blasHandle handle;
  blasCreate(&handle);
  allocate(&a, n);
  allocate(&b, n);
  allocate(&c, n);
  for (int i = 0; i < steps; ++i)
    gemm(handle, n, &one, a, b, c);
  cudaFree(c);
}

// CHECK-LABEL: buffer program of stream:
// CHECK: launch blasSgemm {{.*}} stream 1
// CHECK: discard c in its stream
// IR-LABEL: define {{.*}} @stream(
// IR: call void @__dragon_discard(ptr %c{{[0-9]*}}, i64 -1, ptr %s)
void stream(int n, cudaStream_t s) {
  float *a, *c, *d;
  blasHandle handle;
  blasCreate(&handle);
  blasSetStream(handle, s);
  allocate(&a, n);
  allocate(&c, n);
  allocate(&d, n);
  gemm(handle, n, &zero, a, a, c);
  gemm(handle, n, &zero, c, a, d);
  gemm(handle, n, &zero, a, a, c);
  gemm(handle, n, &zero, c, a, d);
  cudaFree(c);
}

// One of two streams, and that of a handle from elsewhere.
// CHECK-LABEL: buffer program of twoStreams:
// CHECK: launch blasSgemm {{.*}} stream -1
// CHECK-NOT: discard c
// CHECK: missed: 'c' not discarded: in which stream 'blasSgemm' at line 90 works is not known
void twoStreams(int n, cudaStream_t s, int choice) {
  float *a, *c, *d;
  blasHandle handle;
  blasCreate(&handle);
  if (choice)
    blasSetStream(handle, s);
  allocate(&a, n);
  allocate(&c, n);
  allocate(&d, n);
  gemm(handle, n, &zero, a, a, c);
  gemm(handle, n, &zero, c, a, d);
  gemm(handle, n, &zero, a, a, c);
}

// CHECK-LABEL: buffer program of foreignHandle:
// CHECK: launch blasSgemm {{.*}} stream -1
void foreignHandle(int n, blasHandle handle) {
  float *a, *c;
  allocate(&a, n);
  allocate(&c, n);
  gemm(handle, n, &zero, a, a, c);
}

// Two handles, each with a stream of its own.
// CHECK-LABEL: buffer program of twoHandles:
// CHECK: launch blasSgemm {{.*}} must-write(c) unsliceable{{$}}
// CHECK: launch blasSgemm {{.*}} stream 1
// CHECK: launch blasScale read-write(d) stream 1
void twoHandles(int n, cudaStream_t s) {
  float *a, *c, *d;
  blasHandle one, two;
  blasCreate(&one);
  blasCreate(&two);
  blasSetStream(two, s);
  allocate(&a, n);
  allocate(&c, n);
  allocate(&d, n);
  gemm(one, n, &zero, a, a, c);
  gemm(two, n, &zero, a, a, d);
  blasScale(n, d, s);
}

// Given to code that may set its stream.
void configure(blasHandle);
// CHECK-LABEL: buffer program of configured:
// CHECK: launch blasSgemm {{.*}} stream -1
void configured(int n) {
  float *a, *c;
  blasHandle handle;
  blasCreate(&handle);
  configure(handle);
  allocate(&a, n);
  allocate(&c, n);
  gemm(handle, n, &zero, a, a, c);
}

// An owner of the handle, as in C++.
struct Owner {
  long before;
  blasHandle handle;
};
static void openOwner(struct Owner *o) { blasCreate(&o->handle); }
// CHECK-LABEL: buffer program of owned:
// CHECK: launch blasSgemm {{.*}} must-write(c) unsliceable{{$}}
void owned(int n) {
  float *a, *c;
  struct Owner o = {0, NULL};
  openOwner(&o);
  allocate(&a, n);
  allocate(&c, n);
  gemm(o.handle, n, &zero, a, a, c);
}

// What it fills, nobody needs before.
// CHECK-LABEL: buffer program of filled:
// CHECK: after blasScale (line {{[0-9]+}}): discard x
void filled(long n) {
  float *x;
  cudaMalloc((void **)&x, n);
  blasScale(n, x, NULL);
  blasFill(x, n);
  blasScale(n, x, NULL);
  cudaFree(x);
}
