// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Host code that looks at staging buffers: in front of the outermost loop that
// does not transfer, once between transfers.
#include "cuda.h"

KERNEL1(scale, float *)

static void verify(const float *h, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (h[i] < 0)
      exit(1);
}

// CHECK-LABEL: buffer program of verified:
// CHECK: file-write out read(h)*
// CHECK-NEXT: host-access read-write(h)? reads in-loop{{$}}
// CHECK-NOT: host-access
// CHECK: free (h)
void verified(size_t n, FILE *in, FILE *out) {
  float *h = malloc(4 * n), *d;
  fread(h, 4, n, in);
  cudaMalloc((void **)&d, 4 * n);
  cudaMemcpy(d, h, 4 * n, H2D);
  LAUNCH(scale, d);
  cudaMemcpy(h, d, 4 * n, D2H);
  fwrite(h, 4, n, out);
  verify(h, n);
  free(h);
}

// CHECK-LABEL: buffer program of printed:
// CHECK: copy-out {{.*}}(h)
// CHECK-NEXT: host-access read-write(h)? reads{{$}}
// CHECK-NEXT: barrier printf{{$}}
// CHECK-NEXT: return
void printed(size_t n) {
  float *h = malloc(4 * n), *d;
  cudaMalloc((void **)&d, 4 * n);
  cudaMemcpy(h, d, 4 * n, D2H);
  printf("%f %f\n", h[0], h[1]);
}

// CHECK-LABEL: buffer program of eachPiece:
// CHECK: host-access read-write(h)? repeated
// CHECK: missed: 'h' not elided: host code at line [[#@LINE+10]] looks at its contents between each transfer
void eachPiece(size_t n, FILE *in) {
  float *h = malloc(4 * n), *d;
  float sum = 0;
  cudaMalloc((void **)&d, 64 * n);
  for (int piece = 0; piece < 16; ++piece) {
    fread(h, 4, n, in);
    cudaMemcpy(d + piece * n, h, 4 * n, H2D);
    for (size_t i = 0; i < n; ++i)
      // Here:
      sum += h[i];
  }
  LAUNCH(scale, d);
  printf("%f\n", sum);
}

// A check of the result, or of the pointer, is no look at the contents.
// CHECK-LABEL: buffer program of checked:
// CHECK-NOT: host-access
// CHECK: elide h
void checked(size_t n, FILE *in) {
  float *h = malloc(4 * n), *d;
  if (!h || fread(h, 4, n, in) != n)
    return;
  cudaMalloc((void **)&d, 4 * n);
  cudaMemcpy(d, h, 4 * n, H2D);
  free(h);
}

// Managed memory is looked at by the host itself; what a file or copy call gets
// of it is not elided.
// CHECK-LABEL: buffer program of managed:
// CHECK-NEXT: buffer m {{s[0-9]+}} managed{{$}}
// CHECK: host-access read-write(m)? in-loop{{$}}
// CHECK: launch scale read-write(m)
// CHECK: file-write out read(m)* {{.*}} other
// CHECK-NOT: elide
void managed(size_t n, FILE *out) {
  float *m;
  cudaMallocManaged((void **)&m, 4 * n, 1);
  for (size_t i = 0; i < n; ++i)
    m[i] = i;
  LAUNCH(scale, m);
  cudaDeviceSynchronize();
  fwrite(m, 4, n, out);
}

// Between fills, not before them: a fill says itself what it does.
// CHECK-LABEL: buffer program of managedRounds:
// CHECK: fill must-write(m)
// CHECK: host-access read-write(m)? repeated
// CHECK-NOT: host-access
// CHECK-NOT: after fill
// CHECK: before fill (line [[#@LINE+7]]): discard m
// CHECK-NOT: after fill
// CHECK: passed
void managedRounds(size_t n, int rounds) {
  float *m;
  cudaMallocManaged((void **)&m, 4 * n, 1);
  for (int round = 0; round < rounds; ++round) {
    cudaMemset(m, round, 4 * n);
    cudaDeviceSynchronize();
    verify(m, n);
  }
  cudaFree(m);
}

// Pinned memory may be copied "from the device": the driver goes by addresses.
// CHECK-LABEL: buffer program of directions:
// CHECK: copy-in read(h)
// CHECK: host-access read-write(h)? reads{{$}}
// CHECK-NEXT: copy
// CHECK: materialise h
// CHECK-LABEL: buffer program of toDevice:
// CHECK: copy read(d)
void directions(size_t n, FILE *in, FILE *out, float *part) {
  float *h, *d;
  cudaMallocHost((void **)&h, 4 * n);
  fread(h, 4, n, in);
  cudaMalloc((void **)&d, 4 * n);
  cudaMemcpy(d, h, 4 * n, H2D);
  LAUNCH(scale, d);
  cudaMemcpy(part, h, n, D2H);
  fwrite(h, 4, n, out);
}
void toDevice(size_t n) {
  float *h, *d;
  cudaMallocHost((void **)&h, 4 * n);
  cudaMalloc((void **)&d, 4 * n);
  cudaMemcpy(h, d, n, H2D);
  LAUNCH(scale, d);
}

// An access before and one behind an event that writes another buffer are two.
// CHECK-LABEL: buffer program of aroundFill:
// CHECK: host-access read-write(h)?{{$}}
// CHECK-NEXT: fill
// CHECK-NEXT: host-access read-write(h)?{{$}}
// CHECK-NEXT: copy-out
void aroundFill(size_t n) {
  float *d, *h = (float *)malloc(4 * n);
  cudaMalloc((void **)&d, 4 * n);
  h[7] = 3;
  cudaMemset(d, 1, 4 * n);
  h[5] = 2;
  cudaMemcpy(h, d, 4 * n, 2);
  cudaFree(d);
  free(h);
}
