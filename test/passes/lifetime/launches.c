// RUN: dragon-summary %t.sm_90 'modes: none read write value read-write' 'pair: read value' 'scale: read-write' 'sum: read accumulate'
// RUN: %host-ir -O1 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// What a launch does to which buffer, and in which stream.
#include "cuda.h"

KERNEL1(scale, float *)
KERNEL2(sum, float *, float *)
struct Pair {
  float *data;
  long count;
};
KERNEL1(pair, struct Pair)
struct Large {
  float *first;
  long more[8];
  float *second;
};
KERNEL1(large, struct Large)

void __device_stub__modes(float *a, float *b, float *c, long n, float *d) {
  void *args[] = {&a, &b, &c, &n, &d};
  cudaLaunchKernel((const void *)&__device_stub__modes, args);
}

// CHECK-LABEL: buffer program of modes:
// CHECK: launch modes read(b) write(c) read-write(d){{$}}
void modes(size_t n) {
  float *a, *b, *c, *d;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMalloc((void **)&c, n);
  cudaMalloc((void **)&d, n);
  LAUNCH(modes, a, b, c, n, d);
}

// What its threads have written, it reads as well.
// CHECK-LABEL: buffer program of accumulates:
// CHECK: launch sum read(a) write(b){{$}}
void accumulates(size_t n) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  LAUNCH(sum, a, b);
}

// The calling convention takes the structure apart: data is the first word of
// argument 0.
// CHECK-LABEL: buffer program of structureInRegisters:
// CHECK: launch pair read(d){{$}}
void structureInRegisters(size_t n) {
  struct Pair p = {NULL, n};
  float *d;
  cudaMalloc((void **)&d, n);
  p.data = d;
  LAUNCH(pair, p);
}

// A large one is passed in memory; there is no summary of this kernel.
// CHECK-LABEL: buffer program of structureInMemory:
// CHECK: launch large
// CHECK-SAME: read-write({{[a-z]+}})? read-write({{[a-z]+}})?
void structureInMemory(size_t n) {
  struct Large l;
  float *d, *e;
  cudaMalloc((void **)&d, n);
  cudaMalloc((void **)&e, n);
  l.first = d;
  l.second = e;
  LAUNCH(large, l);
}

// CHECK-LABEL: buffer program of streams:
// CHECK: copy-in {{.*}} stream [[A:[0-9]+]]
// CHECK: launch scale read-write(d) stream [[A]]{{$}}
// CHECK: launch scale read-write(d) stream [[B:[0-9]+]]{{$}}
// CHECK: launch scale read-write(d){{$}}
void streams(size_t n, void *h) {
  cudaStream_t a, b;
  float *d;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaMalloc((void **)&d, n);
  cudaMemcpyAsync(d, h, n, H2D, a);
  LAUNCH_ON(a, scale, d);
  LAUNCH_ON(b, scale, d);
  LAUNCH(scale, d);
}

// Pinned memory that a kernel is given is used by it.
// CHECK-LABEL: buffer program of pinned:
// CHECK: launch scale read-write(h)
// CHECK: missed: 'h' not elided: 'scale' at line [[#@LINE+7]] may keep its address or look at its contents
void pinned(size_t n, FILE *in) {
  float *h, *d;
  cudaMallocHost((void **)&h, n);
  cudaMalloc((void **)&d, n);
  fread(h, 1, n, in);
  cudaMemcpy(d, h, n, H2D);
  LAUNCH(scale, h);
}

// What waits or may take long; of several calls the first.
// CHECK-LABEL: buffer program of between:
// CHECK: launch scale read-write(d){{$}}
// CHECK: barrier cudaDeviceSynchronize{{$}}
// CHECK-NOT: barrier
// CHECK: launch scale read-write(d){{$}}
// CHECK-NOT: barrier
// CHECK: barrier a loop{{$}}
// CHECK-NOT: barrier
// CHECK: return
void between(size_t n, const int *given, int *sum) {
  float *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(scale, d);
  cudaDeviceSynchronize();
  printf("synchronised\n");
  LAUNCH(scale, d);
  for (int i = 0; i < 8; ++i)
    sum[i] = i;
  LAUNCH(scale, d);
  for (size_t i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k)
      *sum += given[4 * i + k];
}

// Its arguments are computed by branches, or by a launch in another stream.
// CHECK-LABEL: buffer program of argumentsInBetween:
// CHECK: copy-in {{.*}} stream [[A:[0-9]+]]
// CHECK: launch scale read-write({{.*}} stream [[A]]{{$}}
// CHECK: launch scale read-write(e) stream [[B:[0-9]+]]{{$}}
// CHECK: launch scale read-write(d) stream [[A]]{{$}}
static float *scaled(float *d, float *e, cudaStream_t stream) {
  LAUNCH_ON(stream, scale, e);
  return d;
}
float *chosen(void);
void argumentsInBetween(size_t n, void *h, int which, cudaStream_t a,
                        cudaStream_t b) {
  float *d, *e;
  cudaMalloc((void **)&d, n);
  cudaMalloc((void **)&e, n);
  cudaMemcpyAsync(d, h, n, H2D, a);
  LAUNCH_ON(a, scale, which > 1 ? (h = chosen(), d) : e);
  LAUNCH_ON(a, scale, scaled(d, e, b));
}
