// Indices that are loaded from memory: what lies at an address, which the runtime may know.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// CHECK-LABEL: kernel experts{{$}}
// CHECK:        weights (argument 1): read, indirect
// CHECK-DAG:      read exact 4 bytes at 4*sext64({{.*}}bid.y{{.*}}){{$[[:space:]]*}}if arg2 == 0
// CHECK-DAG:      read indirect 4 bytes at 4*sext64({{.*}}mem32[arg2 + 4*zext64(bid.y)]{{.*}}){{$[[:space:]]*}}if arg2 != 0
extern "C" __global__ void experts(float *out, const float *weights,
                                   const int *ids, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int expert = ids ? ids[blockIdx.y] : blockIdx.y;
  out[blockIdx.y * size + i] = weights[expert * size + i];
}

// CHECK-LABEL: kernel rows{{$}}
// CHECK:          write indirect 4 bytes at {{.*}}512*mem64[arg1 + 8*zext64(bid.y)]
extern "C" __global__ void rows(float *cache, const long long *rows) {
  cache[rows[blockIdx.y] * 128 + threadIdx.x] = 1;
}

// An array that says where another one is looked at.
// CHECK-LABEL: kernel blocks{{$}}
// CHECK:        table (argument 1): read, indirect
// CHECK:          512*zext64(mem16[arg2 + 2*zext64(mem32[arg3 + 4*zext64(bid.x)])])
extern "C" __global__ void blocks(float *out, const float *table,
                                  const unsigned short *list,
                                  const unsigned *which) {
  out[threadIdx.x] = table[list[which[blockIdx.x]] * 128 + threadIdx.x];
}

// Loaded bounds of a loop.
// CHECK-LABEL: kernel rows_of_matrix{{$}}
// CHECK:        values (argument 1): read, indirect
// CHECK:          while mem32[arg2 + 4*sext64([[I:.*]])] + trunc32(k0) <s mem32[arg2 + 4 + 4*sext64([[I]])]
extern "C" __global__ void rows_of_matrix(float *y, const float *values,
                                          const int *begin) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = begin[i]; k < begin[i + 1]; ++k)
    sum += values[k];
  y[i] = sum;
}

// CHECK-LABEL: kernel flagged{{$}}
// CHECK:          write conditional 4 bytes at
// CHECK-NEXT:       if mem32[arg1 + 4*zext64(bid.x)] == 3
extern "C" __global__ void flagged(float *a, const int *flag) {
  if (flag[blockIdx.x] == 3)
    a[blockIdx.x * 64 + threadIdx.x] = 1;
}

// Behind the loop its counter is not what it was when this was loaded.
// CHECK-LABEL: kernel behind_loop{{$}}
// CHECK:        a (argument 0): write, indirect
// CHECK-NEXT:     write indirect 4 bytes at 4*sext64(?{{[0-9]+}})
extern "C" __global__ void behind_loop(float *a, const int *list, int n) {
  int last = 0, k = 0;
  do {
    last = list[k];
    k += 1;
  } while (k < n);
  a[last] = 1;
}

// Others may write what is volatile while the kernel runs.
// CHECK-LABEL: kernel polled{{$}}
// CHECK:          write indirect 4 bytes at 4*sext64(?{{[0-9]+}})
extern "C" __global__ void polled(float *a, const volatile int *flag) {
  a[flag[0]] = 1;
}
