// RUN: dragon-summary %t.sm_90 'scale: read-write' 'keep: any'
// RUN: %host-ir -O1 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Where an address goes that nobody can follow, and where it does not.
#include "cuda.h"

KERNEL1(scale, float *)
KERNEL1(keep, float *)
KERNEL1(foreign, float *)

float *known;
void unknown(float *);
extern char symbol;

// CHECK-LABEL: buffer program of stored:
// CHECK-NEXT: buffer d {{.*}} escapes # to a store to memory that other code may see
void stored(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  known = d;
}

// CHECK-LABEL: buffer program of passed:
// CHECK-NEXT: buffer d {{.*}} escapes # to 'unknown'
// CHECK: opaque unknown read-write(d)?
// CHECK: launch scale read-write(d)
// An opaque call may use it at any time, having seen it once.
// CHECK: opaque unknown read-write(d)?
void passed(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  unknown(d);
  LAUNCH(scale, d);
  unknown(NULL);
}

// CHECK-LABEL: buffer program of returned:
// CHECK-NEXT: buffer d {{.*}} escapes # to the caller
float *returned(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  return d;
}

// CHECK-LABEL: buffer program of throughArgument:
// CHECK-NEXT: buffer {{.*}} escapes
void throughArgument(float **result, size_t n) {
  cudaMalloc((void **)result, n);
}

// CHECK-LABEL: buffer program of inMemory:
// CHECK-NEXT: buffer d {{.*}} escapes # to 'unknown'
void inMemory(size_t n) {
  float *d;
  float *list[2];
  cudaMalloc((void **)&d, n);
  list[1] = d;
  unknown((float *)list);
}

// CHECK-LABEL: buffer program of published:
// CHECK-NEXT: buffer d {{.*}} escapes # to 'cudaMemcpyToSymbol'
void published(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  cudaMemcpyToSymbol(&symbol, &d, 8, 0, H2D);
}

// CHECK-LABEL: buffer program of byInterProcessHandle:
// CHECK-NEXT: buffer d {{.*}} escapes # to 'cudaIpcGetMemHandle'
void byInterProcessHandle(size_t n, void *handle) {
  float *d;
  cudaMalloc((void **)&d, n);
  cudaIpcGetMemHandle(handle, d);
}

// CHECK-LABEL: buffer program of kept:
// CHECK-NEXT: buffer d {{.*}} escapes # to keep
void kept(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(keep, d);
}

// A kernel without a summary may do anything to every buffer.
// CHECK-LABEL: buffer program of withoutSummary:
// CHECK-NEXT: buffer d {{.*}} escapes # to foreign
// CHECK-NEXT: buffer other {{s[0-9]+}}{{$}}
// CHECK: launch foreign
// CHECK-SAME: read-write(other)?
void withoutSummary(size_t n) {
  float *d, *other;
  cudaMalloc((void **)&d, n);
  cudaMalloc((void **)&other, n);
  LAUNCH(foreign, d);
}

// CHECK-LABEL: buffer program of contained:
// CHECK-NEXT: buffer d {{s[0-9]+}}{{$}}
// CHECK-NOT: opaque unknown{{.*}}(d)
void contained(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  printf("%d of %s\n", (int)n, "bytes");
  if (d == NULL || ((unsigned long)d & 255) != 0)
    return;
  unknown(NULL);
  LAUNCH(scale, d);
  cudaFree(d);
}
