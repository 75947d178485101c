// RUN: %host-ir -O1 %s | %buffer-program -dragon-library-summaries=%S/Inputs/library.yaml 2>&1 | FileCheck %s
// RUN: %host-ir -O0 %s | %buffer-program -dragon-library-summaries=%S/Inputs/library.yaml 2>&1 | FileCheck %s

// What calls of library functions do to which buffer, by their summaries.
#include "library.h"

static void gemm(blasHandle handle, int n, float beta, float *a, float *b, float *c) {
  const float alpha = 1;
  blasSgemm(handle, 0, 0, n, n, n, &alpha, a, n, b, n, &beta, c, n);
}

// CHECK-LABEL: buffer program of overwrites:
// CHECK: launch blasSgemm read(a) read(b) must-write(c) unsliceable{{$}}
void overwrites(int n) {
  float *a, *b, *c;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * sizeof(float));
  cudaMalloc((void **)&b, (size_t)n * n * sizeof(float));
  cudaMalloc((void **)&c, n * n * sizeof(float));
  gemm(handle, n, 0, a, b, c);
  blasDestroy(handle);
}

// CHECK-LABEL: buffer program of constantSizes:
// CHECK: launch blasDgemm read(a) read(b) must-write(c) unsliceable{{$}}
void constantSizes(void) {
  static const double one = 1, zero = 0;
  double *a, *b, *c;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, 64 * 32 * 8);
  cudaMalloc((void **)&b, 32 * 16 * 8);
  cudaMalloc((void **)&c, 64 * 16 * 8);
  blasDgemm(handle, 0, 0, 64, 16, 32, &one, a, 64, b, 32, &zero, c, 64);
}

// CHECK-LABEL: buffer program of accumulates:
// CHECK: launch blasSgemm read(a) read(b) read-write(c) unsliceable{{$}}
void accumulates(int n) {
  float *a, *b, *c;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  cudaMalloc((void **)&c, n * n * 4);
  gemm(handle, n, 1, a, b, c);
}

// CHECK-LABEL: buffer program of betaUnknown:
// CHECK: launch blasSgemm read(a) read(b) read-write(c) unsliceable{{$}}
void betaUnknown(int n, float beta) {
  float *a, *b, *c;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  cudaMalloc((void **)&c, n * n * 4);
  gemm(handle, n, beta, a, b, c);
}

// Zero first, then not.
// CHECK-LABEL: buffer program of betaChanges:
// CHECK: launch blasSgemm read(a) read(b) must-write(c) unsliceable{{$}}
// CHECK: launch blasSgemm read(a) read(b) read-write(c) unsliceable{{$}}
void betaChanges(int n) {
  float *a, *b, *c, alpha = 1, beta = 0;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  cudaMalloc((void **)&c, n * n * 4);
  blasSgemm(handle, 0, 0, n, n, n, &alpha, a, n, b, n, &beta, c, n);
  beta = 1;
  blasSgemm(handle, 0, 0, n, n, n, &alpha, a, n, b, n, &beta, c, n);
}

// Whoever is given the scalar may have changed it.
void change(float *);
// CHECK-LABEL: buffer program of betaGivenAway:
// CHECK: launch blasSgemm read(a) read(b) read-write(c) unsliceable{{$}}
void betaGivenAway(int n) {
  float *a, *b, *c, alpha = 1, beta = 0;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  cudaMalloc((void **)&c, n * n * 4);
  change(&beta);
  blasSgemm(handle, 0, 0, n, n, n, &alpha, a, n, b, n, &beta, c, n);
}

// Rows between the columns are not written.
// CHECK-LABEL: buffer program of leadingDimension:
// CHECK: launch blasSgemm read(a) read(b) read-write(c) unsliceable{{$}}
void leadingDimension(int n, int ldc) {
  float *a, *b, *c;
  const float alpha = 1, beta = 0;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  cudaMalloc((void **)&c, n * n * 4);
  blasSgemm(handle, 0, 0, n, n, n, &alpha, a, n, b, n, &beta, c, ldc);
}

// The buffer is larger than what is written.
// CHECK-LABEL: buffer program of larger:
// CHECK: launch blasSgemm read(a) read(b) write(c) unsliceable{{$}}
void larger(int n) {
  float *a, *b, *c;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  cudaMalloc((void **)&c, n * (n + 1) * 4);
  gemm(handle, n, 0, a, b, c);
}

// In place: what is read is not dead.
// CHECK-LABEL: buffer program of inPlace:
// CHECK: launch blasSgemm read-write(a) read(b) unsliceable{{$}}
void inPlace(int n) {
  float *a, *b;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  gemm(handle, n, 0, a, b, a);
}

// A scalar in device memory is read as well.
// CHECK-LABEL: buffer program of scalarOnDevice:
// CHECK: launch blasSgemm read(scalar) read(a) read(b) read-write(c) unsliceable{{$}}
void scalarOnDevice(int n) {
  float *a, *b, *c, *scalar;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&scalar, 4);
  cudaMalloc((void **)&a, n * n * 4);
  cudaMalloc((void **)&b, n * n * 4);
  cudaMalloc((void **)&c, n * n * 4);
  blasSgemm(handle, 0, 0, n, n, n, scalar, a, n, b, n, scalar, c, n);
}

// The size is asked for first.
// CHECK-LABEL: buffer program of temporaries:
// CHECK-NOT: launch
// CHECK: alloc (t)
// CHECK: launch blasSum write(t) read(x) must-write(r) unsliceable{{$}}
// CHECK-NOT: launch
void temporaries(int n) {
  float *x, *r;
  void *t;
  size_t bytes;
  cudaMalloc((void **)&x, n * 4);
  cudaMalloc((void **)&r, 4);
  blasSum(NULL, &bytes, x, n, r);
  cudaMalloc(&t, bytes);
  blasSum(t, &bytes, x, n, r);
}

// CHECK-LABEL: buffer program of keeps:
// CHECK-NEXT: buffer w {{.*}} escapes # to 'blasSetWorkspace'
void keeps(size_t n) {
  void *w;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc(&w, n);
  blasSetWorkspace(handle, w, n);
}

// A function of the library that the summary does not have.
// CHECK-LABEL: buffer program of unknown:
// CHECK-NEXT: buffer x {{.*}} escapes # to 'blasMystery'
// CHECK: opaque blasMystery read-write(x)?
void unknown(size_t n) {
  float *x;
  blasHandle handle;
  blasCreate(&handle);
  cudaMalloc((void **)&x, n);
  blasMystery(handle, x);
}
