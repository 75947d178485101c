// How accesses are laid out, and what escapes: the words of the first line.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// Neighbours touch neighbours.
// CHECK-LABEL: kernel streams{{$}}
// CHECK:        a (argument 0): read, streaming{{$}}
// CHECK:        b (argument 1): write, streaming{{$}}
extern "C" __global__ void streams(const float *a, float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    b[i] = a[i];
}

// The same bytes by all threads; by neighbours; by all blocks.
// CHECK-LABEL: kernel reuses{{$}}
// CHECK:        a (argument 0): read, reused{{$}}
// CHECK:        b (argument 1): read, reused{{$}}
// CHECK:        c (argument 2): read, reused{{$}}
// CHECK:        d (argument 3): write, streaming{{$}}
extern "C" __global__ void reuses(const float *a, const float *b, const float *c, float *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = b[i] + b[i + 1] + c[threadIdx.x];
  for (int k = 0; k < n; ++k)
    sum += a[k];
  d[i] = sum;
}

// Gaps between neighbours; two fields of three; all of the structure is no gap.
struct Point {
  float x, y, z;
};
// CHECK-LABEL: kernel strides{{$}}
// CHECK:        a (argument 0): write, strided{{$}}
// CHECK:        b (argument 1): write, strided{{$}}
// CHECK:        c (argument 2): write, streaming{{$}}
extern "C" __global__ void strides(float *a, Point *b, Point *c) {
  int i = threadIdx.x;
  a[32 * i] = 1;
  b[i].x = b[i].y = 1;
  c[i].x = c[i].y = c[i].z = 1;
}

// One indirect access makes the pointer's pattern indirect; the index array's own stays.
// CHECK-LABEL: kernel scatters{{$}}
// CHECK:        a (argument 0): write, indirect{{$}}
// CHECK:        index (argument 1): read, streaming{{$}}
extern "C" __global__ void scatters(float *a, const int *index) {
  a[threadIdx.x] = 0;
  a[index[threadIdx.x]] = 1;
}

// A pitch that the launch brings: nothing is said before.
// CHECK-LABEL: kernel pitched{{$}}
// CHECK:        a (argument 0): write{{$}}
extern "C" __global__ void pitched(float *a, int pitch) { a[threadIdx.x * pitch] = 1; }

// The difference of two pointers is no way to either; a pointer that is kept is.
// CHECK-LABEL: kernel differs{{$}}
// CHECK-NEXT:   a (argument 0): not accessed{{$}}
// CHECK-NEXT:   to (argument 1): write
extern "C" __global__ void differs(const float *a, long *to, int n) {
  const float *end = threadIdx.x == 3 ? a + n : a + 4;
  *to = end - a;
}
// CHECK-LABEL: kernel keeps{{$}}
// CHECK-NEXT:   a (argument 0): not accessed, kept
extern "C" __global__ void keeps(const float *a, long *to, int n) { *to = -(long)(a + n); }
