// RUN: dragon-summary %t.sm_90 'scale: read-write' 'step: read write'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Arrays of buffers that loops walk through: each element is a buffer of its own.
#include "cuda.h"

KERNEL1(scale, float *)
KERNEL2(step, float *, float *)

// CHECK-LABEL: buffer program of elements:
// CHECK-NEXT: staging h[0] [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: buffer d[0] [[N]]{{$}}
// CHECK-NEXT: staging h[1] [[N]]{{$}}
// CHECK-NEXT: buffer d[1] [[N]]{{$}}
// CHECK: file-read in must-write(h[0]) [[N]]
// CHECK-NEXT: copy-in read(h[0])* must-write(d[0]) [[N]]
// CHECK: file-read in must-write(h[1]) [[N]]
// CHECK-NEXT: copy-in read(h[1])* must-write(d[1]) [[N]]
// CHECK: launch step read(d[0]) write(d[1])
// CHECK: free (h[0])
// CHECK-NEXT: free (d[0])
// CHECK: free (h[1])
// CHECK-NEXT: free (d[1])
void elements(char *path, size_t n) {
  float *h[2], *d[2];
  FILE *in = fopen(path, "rb");
  for (int i = 0; i < 2; ++i) {
    h[i] = malloc(n);
    if (cudaMalloc((void **)&d[i], n))
      exit(1);
  }
  for (int i = 0; i < 2; ++i) {
    fread(h[i], 1, n, in);
    cudaMemcpy(d[i], h[i], n, H2D);
  }
  LAUNCH(step, d[0], d[1]);
  for (int i = 0; i < 2; ++i) {
    free(h[i]);
    cudaFree(d[i]);
  }
}

struct State {
  size_t bytes;
  float *fields[3];
};

static void allocate(struct State *s, size_t bytes) {
  s->bytes = bytes;
  for (int i = 0; i < 3; ++i)
    cudaMalloc((void **)&s->fields[i], s->bytes);
}

// CHECK-LABEL: buffer program of inStructure:
// CHECK-NEXT: buffer fields[0] [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: buffer fields[1] [[N]]{{$}}
// CHECK-NEXT: buffer fields[2] [[N]]{{$}}
// CHECK: launch step read(fields[0]) write(fields[2])
// CHECK: launch scale read-write(fields[1])
void inStructure(size_t n) {
  struct State s;
  allocate(&s, n);
  LAUNCH(step, s.fields[0], s.fields[2]);
  LAUNCH(scale, s.fields[1]);
}

// The size is known at run time only: one call stands for all elements.
// CHECK-LABEL: buffer program of unknownCount:
// CHECK-NEXT: buffer d s{{[0-9]+}} array{{$}}
// CHECK: block {{.*}} loop l0 from 0 up to n1{{$}}
// CHECK: launch scale read-write(d[0]){{$}}
void unknownCount(size_t n, int count) {
  float *d[8];
  for (int i = 0; i < count; ++i)
    cudaMalloc((void **)&d[i], n);
  LAUNCH(scale, d[0]);
}

// Too many to look at one by one.
// CHECK-LABEL: buffer program of many:
// CHECK-NEXT: buffer d s{{[0-9]+}} array{{$}}
// CHECK: launch scale read-write(d[l1]){{$}}
void many(size_t n) {
  float *d[100];
  for (int i = 0; i < 100; ++i)
    cudaMalloc((void **)&d[i], n);
  for (int i = 0; i < 100; ++i)
    LAUNCH(scale, d[i]);
}

// Elements that may be the same buffer are no array.
// CHECK-LABEL: buffer program of shared:
// CHECK-NEXT: buffer d s{{[0-9]+}} summary{{$}}
// CHECK-LABEL: buffer program of copied:
// CHECK-NEXT: buffer d s{{[0-9]+}} summary{{$}}
// CHECK-LABEL: buffer program of twice:
// CHECK-NEXT: buffer d s{{[0-9]+}} summary{{$}}
void shared(size_t n, int count) {
  float *d[8];
  for (int i = 0; i < count; ++i) {
    cudaMalloc((void **)&d[i], n);
    if (i)
      d[i] = d[0];
  }
  for (int i = 0; i < count; ++i)
    LAUNCH(scale, d[i]);
}
void copied(size_t n, int count) {
  float *d[8], *first;
  for (int i = 0; i < count; ++i) {
    cudaMalloc((void **)&d[i], n);
    if (i == 2)
      first = d[i];
    d[i % 4] = first;
  }
  LAUNCH(scale, first);
}
void twice(size_t n, int count) {
  float *d[8];
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < count; ++i)
      cudaMalloc((void **)&d[i], n);
  for (int i = 0; i < count; ++i)
    LAUNCH(scale, d[i]);
}

// A loop that walks through no array is left as it is.
// CHECK-LABEL: buffer program of timeSteps:
// CHECK: launch scale
// CHECK-NOT: {{^ +}}launch
// CHECK: buffer program of
void timeSteps(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  for (int i = 0; i < 4; ++i)
    LAUNCH(scale, d);
}
void end(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
}
