// Values that loops carry along, and that change under conditions.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: rm -rf %t && mkdir %t
// RUN: %device -O0 %s -o /dev/null -fpass-plugin=%plugin -mllvm -dragon-summary=%t/s
// RUN: dragon-footprint %t/s.sm_90 chosen_before 1 1 - - 8 | FileCheck %s --check-prefix=CHOSEN
// RUN: dragon-footprint %t/s.sm_90 distance_to_last 1 1 - - 8 | FileCheck %s --check-prefix=DISTANCE
// RUN: dragon-footprint %t/s.sm_90 compacted 4 2 box=1:2 - - 8 | FileCheck %s --check-prefix=COMPACTED
// RUN: dragon-footprint %t/s.sm_90 planes 1 8 - 4 100 5 | FileCheck %s --check-prefix=PLANES
// RUN: dragon-footprint %t/s.sm_90 halving 1 64 - | FileCheck %s --check-prefix=HALVING
// RUN: dragon-footprint %t/s.sm_90 doubling 1 64 - | FileCheck %s --check-prefix=DOUBLING
// RUN: dragon-footprint %t/s.sm_90 tiles 2 16 - 32 100 | FileCheck %s --check-prefix=TILES
// RUN: dragon-footprint %t/s.sm_90 tiles 2 16 box=1:2 - 32 100 | FileCheck %s --check-prefix=TILE
// RUN: dragon-footprint %t/s.sm_90 tiles 2 16 - -32 100 | FileCheck %s --check-prefix=BACKWARDS
// RUN: dragon-footprint %t/s.sm_90 rounded 2 16 box=1:2 - 100 1431655766 8 192 | FileCheck %s --check-prefix=ROUNDED
// RUN: dragon-footprint %t/s.sm_90 rounded 2 16 box=1:2 - 100 1 10 192 | FileCheck %s --check-prefix=WRONG
#include "device.h"

// The last of the counters that was chosen, or the start.
// CHECK-LABEL: kernel chosen_before{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write 4 bytes at 4*{{[sz]}}ext64(any[smin(0, trunc32(k{{[0-9]}}))..smax(0, trunc32(k{{[0-9]}}))])
// CHOSEN: a: write [0,36){{$}}
extern "C" __global__ void chosen_before(float *a, const int *x, int n) {
  int best = 0;
  for (int k = 0; k < n; ++k)
    best = x[k] > 5 ? k : best;
  a[best] = 1;
}

// The counter that was kept is not the counter of now: their distance is not 0.
// CHECK-LABEL: kernel distance_to_last{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write 4 bytes at -4*{{.*}}k[[OTHER:[0-9]]]{{.*}} + 4*k{{[0-9]$}}
// DISTANCE: a: write [-{{[0-9]+}},32){{$}}
extern "C" __global__ void distance_to_last(float *a, const int *x, int n) {
  int last = 0;
  for (int k = 0; k < n; ++k) {
    a[k - last] = 1;
    if (x[k] > 5)
      last = k;
  }
}

// Up to one step in each iteration.
// CHECK-LABEL: kernel compacted{{$}}
// CHECK:        a (argument 1): write
// CHECK-NEXT:     write conditional 4 bytes at {{.*}}any[0..trunc32(k0)]
// COMPACTED: a: write [64,128){{$}}
extern "C" __global__ void compacted(const int *x, float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i * n;
  for (int k = 0; k < n; ++k)
    if (x[k] > 5)
      a[at++] = 1;
}
// CHECK-LABEL: kernel planes{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(tid.x) + 4*sext64(arg2)*k0
// PLANES: a: write [0,20) [400,420) [800,820) [1200,1220) must [0,20) [400,420) [800,820) [1200,1220){{$}}
extern "C" __global__ void planes(float *a, int n, int plane, int width) {
  int at = threadIdx.x;
  bool active = at < width;
  for (int k = 0; k < n; ++k)
    if (active) {
      a[at] = 1;
      at += plane;
    }
}
// A step that is loaded may be anything; so may one that is taken in a loop inside.
// CHECK-LABEL: kernel loaded_steps{{$}}
// CHECK-NEXT:   a (argument 0): write, indirect
// CHECK-NEXT:     write indirect 4 bytes at 4*{{[sz]}}ext64(?
extern "C" __global__ void loaded_steps(float *a, const int *x, int n) {
  int at = 0;
  for (int k = 0; k < n; ++k) {
    a[at] = 1;
    if (n > 5)
      at += x[k];
  }
}
// CHECK-LABEL: kernel steps_inside{{$}}
// CHECK:        a (argument 1): write
// CHECK-NEXT:     write {{.*}}4 bytes at 4*{{[sz]}}ext64(?
extern "C" __global__ void steps_inside(const int *x, float *a, int n) {
  int at = 0;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      if (x[j] > 5)
        a[at++] = 1;
}

// Halves of a number lie between it and 0.
// HALVING: a: read [0,256) write [0,128){{$}}
// CHECK-LABEL: kernel halving{{$}}
// CHECK-NEXT:   a (argument 0): read-write
// CHECK-NEXT:     read 4 bytes at {{.*}}any[smin(zext64(bdim.x), 0)..smax(zext64(bdim.x), 0)]
extern "C" __global__ void halving(float *a) {
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1)
    if (threadIdx.x < s)
      a[threadIdx.x] += a[threadIdx.x + s];
}
// Of doubles the test of the loop is what one knows.
// DOUBLING: a: read [0,508) write [0,256){{$}}
// CHECK-LABEL: kernel doubling{{$}}
extern "C" __global__ void doubling(float *a) {
  for (unsigned s = 1; s < blockDim.x; s *= 2)
    if (threadIdx.x % (2 * s) == 0)
      a[threadIdx.x] += a[threadIdx.x + s];
}

// Each block goes through its part of all tiles, from where it begins to the next multiple of n, and so on: it does not fall below
// where it begins. That depends on n, which the launch tells.
// CHECK-LABEL: kernel tiles{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write 4 bytes at {{.*}}carried(
// TILES: a: write [0,800){{$}}
// TILE: a: write [400,800){{$}}
// BACKWARDS: a: write [-{{[0-9]+}},800){{$}}
extern "C" __global__ void tiles(float *a, int n, int part) {
  int k = blockIdx.x * part, stop = k + part;
  while (k < stop) {
    a[k] = 1;
    k = (k + n) / n * n;
  }
}

// The same, divided by 192 by multiplication; with numbers that do something else nothing is known.
// ROUNDED: a: write [400,800){{$}}
// WRONG: a: write [-{{[0-9]+}},800){{$}}
extern "C" __global__ void rounded(float *a, int part, unsigned m, unsigned s, unsigned d) {
  int k = blockIdx.x * part, stop = k + part;
  while (k < stop) {
    a[k] = 1;
    unsigned next = k + d;
    k = ((__nvvm_mulhi_ui(next, m) + next) >> s) * d;
  }
}
