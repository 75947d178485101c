// What is surely written before it is read: the launch shows it in numbers.
//
// RUN: rm -rf %t && mkdir %t
// RUN: %device -O0 %s -o /dev/null -fpass-plugin=%plugin -mllvm -dragon-summary=%t/s
// RUN: dragon-footprint %t/s.sm_90 fill 4 64 - 200 | FileCheck %s --check-prefix=FILL
// RUN: dragon-footprint %t/s.sm_90 fill 4 64 box=1:2 - 200 | FileCheck %s --check-prefix=SLICE
// RUN: dragon-footprint %t/s.sm_90 fill 4 64 - -5 | FileCheck %s --check-prefix=NONE
// RUN: dragon-footprint %t/s.sm_90 stride 2 8 - 100 | FileCheck %s --check-prefix=STRIDE
// RUN: dragon-footprint %t/s.sm_90 stride 2 8 box=1:2 - 40 | FileCheck %s --check-prefix=HALF
// RUN: dragon-footprint %t/s.sm_90 update 1 8 - | FileCheck %s --check-prefix=UPDATE
// RUN: dragon-footprint %t/s.sm_90 accumulate 1 8 - - 5 | FileCheck %s --check-prefix=ACCUMULATE
// RUN: dragon-footprint %t/s.sm_90 neighbour 1 8 - | FileCheck %s --check-prefix=NEIGHBOUR
// RUN: dragon-footprint %t/s.sm_90 halves 1 8 - 8 | FileCheck %s --check-prefix=HALVES
// RUN: dragon-footprint %t/s.sm_90 halves 1 8 - 2 | FileCheck %s --check-prefix=OVERLAP
// RUN: dragon-footprint %t/s.sm_90 maybe 1 8 - - | FileCheck %s --check-prefix=MAYBE
// RUN: dragon-footprint %t/s.sm_90 one 3 8 - | FileCheck %s --check-prefix=ONE
// RUN: dragon-footprint %t/s.sm_90 odd 1 8 - | FileCheck %s --check-prefix=ODD
// RUN: dragon-footprint %t/s.sm_90 big 16777216 256 - 4294967290 | FileCheck %s --check-prefix=BIG
// RUN: dragon-footprint %t/s.sm_90 wraps 16777216 256 - | FileCheck %s --check-prefix=WRAPS
// RUN: dragon-footprint %t/s.sm_90 wraps 4 256 - | FileCheck %s --check-prefix=FITS
// RUN: dragon-footprint %t/s.sm_90 below_both 1 16 - 9 5 | FileCheck %s --check-prefix=BOTH
// RUN: dragon-footprint %t/s.sm_90 below_both 1 16 - 5 9 | FileCheck %s --check-prefix=BOTH
// RUN: dragon-footprint %t/s.sm_90 below_one 1 16 - 9 5 | FileCheck %s --check-prefix=EITHER
// RUN: dragon-footprint %t/s.sm_90 largest 1 16 - 3 9 | FileCheck %s --check-prefix=LARGEST
// RUN: dragon-footprint %t/s.sm_90 largest 1 16 - 9 9 | FileCheck %s --check-prefix=NONE
// RUN: dragon-footprint %t/s.sm_90 west 2,2 8,4 box=1,0,0:2,1,1 - - 16 | FileCheck %s --check-prefix=WEST
// RUN: dragon-footprint %t/s.sm_90 mirrored 1 8 - 5 | FileCheck %s --check-prefix=MIRRORED
#include "device.h"

// FILL: a: write [0,800) must [0,800){{$}}
// SLICE: a: write [256,512) must [256,512){{$}}
// NONE: a:{{$}}
extern "C" __global__ void fill(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] = 1;
}

// A slice of a grid-stride loop writes every other piece.
// STRIDE: a: write [0,400) must [0,400){{$}}
// HALF: a: write [32,64) [96,128) must [32,64) [96,128){{$}}
extern "C" __global__ void stride(float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    a[i] = 1;
}

// UPDATE: a: read [0,32) write [0,32){{$}}
extern "C" __global__ void update(float *a) { a[threadIdx.x] += 1; }

// The thread reads only what it has written itself.
// ACCUMULATE: a: read [0,32) write [0,32) must [0,32){{$}}
// ACCUMULATE: b: read [0,160){{$}}
extern "C" __global__ void accumulate(float *a, const float *b, int n) {
  int i = threadIdx.x;
  a[i] = 0;
  for (int k = 0; k < n; ++k)
    a[i] += b[i * n + k];
}

// The neighbour may come first; all but its part are sure.
// NEIGHBOUR: a: read [4,36) write [0,32) must [0,4){{$}}
extern "C" __global__ void neighbour(float *a) {
  a[threadIdx.x] = 1;
  a[threadIdx.x] = a[threadIdx.x + 1];
}

// Reads elsewhere in the same buffer do no harm, as the launch shows.
// HALVES: a: read [32,64) write [0,32) must [0,32){{$}}
// OVERLAP: a: read [8,40) write [0,32) must [0,8){{$}}
extern "C" __global__ void halves(float *a, int offset) {
  a[threadIdx.x] = a[threadIdx.x + offset];
}

// A condition that is loaded is no promise.
// MAYBE: a: write [0,32){{$}}
extern "C" __global__ void maybe(float *a, const int *flags) {
  if (flags[threadIdx.x])
    a[threadIdx.x] = 1;
}

// ONE: a: write [0,12) must [0,12){{$}}
extern "C" __global__ void one(float *a) {
  if (threadIdx.x == 0)
    a[blockIdx.x] = 1;
}

// Every second element: what is between is not written.
// ODD: a: write [4,8) [12,16) [20,24) [28,32) [36,40) [44,48) [52,56) [60,64) must [4,8) [12,16) [20,24) [28,32) [36,40) [44,48) [52,56) [60,64){{$}}
extern "C" __global__ void odd(float *a) { a[2 * threadIdx.x + 1] = 1; }

// 2^32 threads: an unsigned index just fits, a signed one wraps, and so takes all of its values.
// BIG: a: write [0,17179869160) must [0,17179869160){{$}}
extern "C" __global__ void big(float *a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] = 1;
}
// WRAPS: a: write [-8589934592,8589934592) must [-8589934592,8589934592){{$}}
// FITS: a: write [0,4096) must [0,4096){{$}}
extern "C" __global__ void wraps(float *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = 1;
}

// Below the smaller of two is below both.
// BOTH: a: write [0,20) must [0,20){{$}}
extern "C" __global__ void below_both(float *a, int n, int m) {
  int i = threadIdx.x;
  if (i < min(n, m))
    a[i] = 1;
}
// The larger of two numbers of the launch is a number.
// EITHER: a: write [0,36) must [0,36){{$}}
extern "C" __global__ void below_one(float *a, int n, int m) {
  int i = threadIdx.x;
  if (i < max(n, m))
    a[i] = 1;
}
// LARGEST: a: write [0,36) must [0,36){{$}}
extern "C" __global__ void largest(float *a, int n, int m) {
  int i = threadIdx.x;
  if (max(i, n) < m)
    a[i] = 1;
}

// The edge of a grid: all of the writes are sure, and the reads are exact.
// WEST: in: read [28,60) [92,124) [156,188) [220,252){{$}}
// WEST: out: write [32,64) [96,128) [160,192) [224,256) must [32,64) [96,128) [160,192) [224,256){{$}}
extern "C" __global__ void west(const float *in, float *out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int i = y * width + x;
  out[i] = in[x == 0 ? i : i - 1];
}
// MIRRORED: a: write [0,20) [32,44) must [0,20) [32,44){{$}}
extern "C" __global__ void mirrored(float *a, int n) {
  int i = threadIdx.x;
  a[i < n ? i : i + 3] = 1;
}
