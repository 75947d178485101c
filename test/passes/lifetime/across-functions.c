// RUN: dragon-summary %t.sm_90 'scale: read-write value'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Wrappers around the calls, a check of their results, helpers that allocate,
// read and write: what they do belongs to the function that calls them. They
// have no buffer program of their own.
#include "cuda.h"

KERNEL2(scale, float *, int)

static void check(int status) {
  if (status)
    exit(1);
}

static int mallocOf(float **pointer, size_t count) {
  return cudaMalloc((void **)pointer, 4 * count);
}

static float *allocate(size_t count) {
  float *memory = malloc(4 * count);
  if (!memory)
    exit(1);
  return memory;
}

static void load(float *d, size_t count, FILE *file) {
  float *staging = allocate(count);
  if (fread(staging, 4, count, file) != count)
    exit(1);
  check(cudaMemcpy(d, staging, 4 * count, H2D));
  free(staging);
}

static void run(float *d, int n) {
  LAUNCH(scale, d, n);
}

// CHECK-NOT: buffer program of {{check|mallocOf|allocate|load|run}}
// CHECK-LABEL: buffer program of main:
// The name that the caller gives, not the helper's.
// CHECK-NEXT: buffer d [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: staging staging [[N]]{{$}}
int main(int argc, char **argv) {
  FILE *file = fopen(argv[1], "rb");
  float *d;
  // CHECK: open file
  // CHECK: alloc (d)
  check(mallocOf(&d, argc));
  // CHECK: alloc (staging)
  // CHECK: file-read file must-write(staging)
  // CHECK: copy-in read(staging)* must-write(d)
  // CHECK: free (staging)
  load(d, argc, file);
  // CHECK: launch scale read-write(d)
  run(d, argc);
  // CHECK: free (d)
  cudaFree(d);
  return 0;
}
// CHECK-NOT: buffer program of
