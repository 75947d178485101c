// Index arithmetic: what clang makes of the usual kernels, unoptimised and on the
// way to -O3, gives the same expressions.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// CHECK-LABEL: kernel guarded{{$}}
// CHECK-NEXT:   a (argument 0): read, streaming{{$}}
// CHECK-NEXT:     read exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x)
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg2
// CHECK-NEXT:   b (argument 1): write, streaming{{$}}
// CHECK-NEXT:     write exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x)
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg2
extern "C" __global__ void guarded(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[i];
}

// An early return is the same guard.
// CHECK-LABEL: kernel early_return{{$}}
// CHECK:          write exact 4 bytes at 4*zext64(bid.x*bdim.x + tid.x)
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <u arg1
extern "C" __global__ void early_return(float *a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  a[i] = 1;
}

// 64-bit indices: nothing is extended after the sum.
// CHECK-LABEL: kernel wide{{$}}
// CHECK:          write exact 4 bytes at 4*(zext64(tid.x) + zext64(bid.x)*zext64(bdim.x))
// CHECK-NEXT:       if zext64(tid.x) + zext64(bid.x)*zext64(bdim.x) <u arg1
extern "C" __global__ void wide(float *a, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] = 1;
}

// CHECK-LABEL: kernel matrix{{$}}
// CHECK:          write exact 4 bytes at {{.*}}arg2
// CHECK-NEXT:       if bid.y*bdim.y + tid.y <s arg1
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg2
extern "C" __global__ void matrix(float *a, int height, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < height && col < width)
    a[row * width + col] = 1;
}

// The negation of a disjunction is a conjunction.
// CHECK-LABEL: kernel outside{{$}}
// CHECK:          write exact 4 bytes at
// CHECK-NEXT:       if bid.y*bdim.y + tid.y <s arg1
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg2
extern "C" __global__ void outside(float *a, int height, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= height || col >= width)
    return;
  a[row * width + col] = 1;
}

// A disjunction is no guard: it says nothing that is always true.
// CHECK-LABEL: kernel either{{$}}
// CHECK:          write 4 bytes at 4*zext64(tid.x){{$}}
// CHECK-NOT:      if
extern "C" __global__ void either(float *a, int n, int m) {
  int i = threadIdx.x;
  if (i < n || i > m)
    a[i] = 1;
}

// A grid-stride loop: the test bounds the counter.
// CHECK-LABEL: kernel grid_stride{{$}}
// CHECK:          write exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x + [[S:.*]]*trunc32(k0))
// CHECK-NEXT:       while bid.x*bdim.x + tid.x + [[S]]*trunc32(k0) <s arg1
extern "C" __global__ void grid_stride(float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    a[i] = 1;
}

// Nested loops with a triangular bound.
// CHECK-LABEL: kernel triangle{{$}}
// CHECK:          write exact 4 bytes at
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg1
// CHECK-NEXT:       while {{.*}}trunc32(k0){{.*}} <s arg1
extern "C" __global__ void triangle(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = i + 1; j < n; ++j)
      a[i * n + j] = 0;
}

// A loop that is left in two places may end early.
// CHECK-LABEL: kernel two_exits{{$}}
// CHECK:          write conditional (unsaid) 4 bytes at
// CHECK-NEXT:       while
extern "C" __global__ void two_exits(float *a, const int *stop, int n) {
  for (int j = 0; j < n; ++j) {
    a[threadIdx.x * n + j] = 0;
    if (stop[j])
      break;
  }
}

// A loop tested at its end runs at least once; its count is known.
// CHECK-LABEL: kernel tested_at_end{{$}}
// CHECK:          write exact 4 bytes at {{.*}}8*k0{{$}}
// CHECK-NOT:      if
extern "C" __global__ void tested_at_end(float *a, int n) {
  int j = 0;
  do {
    a[threadIdx.x * 8 + j] = 0;
    j += 2;
  } while (j < 8);
}

// A choice is two accesses, each under its condition.
// CHECK-LABEL: kernel choice{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-DAG:      write exact 4 bytes at 4*sext64(arg1){{$[[:space:]]*}}if arg2 == 0
// CHECK-DAG:      write exact 4 bytes at 4*zext64(tid.x){{$[[:space:]]*}}if arg2 != 0
extern "C" __global__ void choice(float *a, int n, int flag) {
  int i = threadIdx.x;
  a[flag ? i : n] = 1;
}

// The edge of a stencil.
// CHECK-LABEL: kernel edge{{$}}
// CHECK:          read exact 4 bytes at
// CHECK-NEXT:     if bid.x*bdim.x + tid.x <s -1 + arg2
// CHECK-NEXT:     read exact 4 bytes at {{.*}}4*sext64({{.*}}arg2)
// CHECK-NEXT:     if -1 + arg2 <=s bid.x*bdim.x + tid.x
extern "C" __global__ void edge(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int next;
  if (i < n - 1)
    next = i + 1;
  else
    next = n - 1;
  b[i] = a[next];
}

// A comparison is a number, too.
// CHECK-LABEL: kernel compared{{$}}
// CHECK-NEXT:   a (argument 0): read
// CHECK-DAG:      read exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x){{$[[:space:]]*}}if arg2 <=s bid.x*bdim.x + tid.x
// CHECK-DAG:      read exact 4 bytes at 4*sext64(1 + bid.x*bdim.x + tid.x){{$[[:space:]]*}}if bid.x*bdim.x + tid.x <s arg2
// CHECK-NEXT:   b (argument 1)
extern "C" __global__ void compared(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i + (i < n)];
}

// A variable that is not set on one way has the value of the other where it is used.
// CHECK-LABEL: kernel set_on_one_way, barriers{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write {{.*}}4 bytes at 4*sext64(arg1*tid.x)
// CHECK-NEXT:       if arg1 != 0
extern "C" __global__ void set_on_one_way(float *a, int n) {
  int i;
  if (n)
    i = n * threadIdx.x;
  __nvvm_bar_sync(0);
  if (n)
    a[i] = 1;
}

// Two by one condition are made together.
// CHECK-LABEL: kernel together{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-DAG:      write exact 4 bytes at 4*sext64(arg2*tid.x + tid.y){{$[[:space:]]*}}if 3 <s arg3
// CHECK-DAG:      write exact 4 bytes at 4*(zext64(tid.x) + sext64(arg2*tid.y)){{$[[:space:]]*}}if arg3 <=s 3
// CHECK-NEXT:   b (argument 1)
extern "C" __global__ void together(float *a, float *b, int n, int flag) {
  int x = threadIdx.x, y = threadIdx.y;
  int row = flag > 3 ? x : y, col = flag > 3 ? y : x;
  b[x + n * y] = 1;
  a[row * n + col] = 1;
}

// Under a condition that nobody knows before the launch: one of both, neither is sure.
// CHECK-LABEL: kernel unknown_choice{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-DAG:      write conditional (unsaid) 4 bytes at 4*sext64(bid.x*bdim.x + tid.x){{$}}
// CHECK-DAG:      write conditional (unsaid) 4 bytes at 4*sext64(arg2){{$}}
// CHECK-NEXT:   b (argument 1)
extern "C" __global__ void unknown_choice(float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = b[i] > 0 ? i : n;
  a[j] = 1;
}

// What is chosen is known where it is tested: -1 is never an index, and of a
// choice by the same condition as the access only one side is left.
// CHECK-LABEL: kernel no_index{{$}}
// CHECK:        {{[ab]}} (argument 0): read
// CHECK-NEXT:     read exact 4 bytes at 4*{{[sz]}}ext64({{.*}}tid.x{{.*}})
// CHECK-NEXT:       if
// CHECK-NOT:        read
// CHECK:        {{[ab]}} (argument 1): write
extern "C" __global__ void no_index(const float *a, float *b, int n) {
  int at = threadIdx.x < 2 ? -1 : threadIdx.x - 2 + n;
  b[threadIdx.x] = at < 0 ? 0 : a[at];
}
// CHECK-LABEL: kernel one_side{{$}}
// CHECK:        {{[ab]}} (argument 0): write
// CHECK-NEXT:     write exact 4 bytes at {{.*}}tid.x
// CHECK-NOT:      write
extern "C" __global__ void one_side(int *a, int n) {
  int i = threadIdx.x;
  bool is = i < n;
  int to = 0;
  if (is)
    to = n - 1 - i;
  if (is)
    a[to] = i;
}

// The last iteration's choice, used after the loop: bounds, or nothing known.
// CHECK-LABEL: kernel choice_in_loop{{$}}
// CHECK:          write 4 bytes at
// CHECK-NOT:      exact
// CHECK-LABEL: kernel clamped{{$}}
extern "C" __global__ void choice_in_loop(float *a, int n, int m) {
  int j = 0;
  for (int k = 0; k < n; ++k)
    j = k < m ? k * k : m;
  a[j] = 1;
}

// CHECK:          read {{.*}}smax({{.*}}smin(
extern "C" __global__ void clamped(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = max(0, min(i, n - 1));
  b[i] = a[j];
}

// Division and masks are kept as they are.
// CHECK-LABEL: kernel unflattened{{$}}
// CHECK:          write exact 4 bytes at {{.*}}div(
extern "C" __global__ void unflattened(float *a, int width, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i / width * pitch + i % width] = 1;
}

// A switch: one case is an equality, the default none of them.
// CHECK-LABEL: kernel cases{{$}}
// CHECK:          write exact 4 bytes at 0
// CHECK-NEXT:       if tid.x == 0
// CHECK:          write exact 4 bytes at 4*
// CHECK-NEXT:       if tid.x != 0
// CHECK-NEXT:       if tid.x != 7
extern "C" __global__ void cases(float *a, float *b, float *c) {
  switch (threadIdx.x) {
  case 0:
    a[0] = 1;
    break;
  case 7:
    b[0] = 1;
    break;
  default:
    c[threadIdx.x] = 2;
  }
}

// Three dimensions, and the position in a warp.
// CHECK-LABEL: kernel volume{{$}}
// CHECK:          write exact 4 bytes at {{.*}}bid.z{{.*}}
extern "C" __global__ void volume(float *a, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  a[(z * ny + y) * nx + x] = 1;
}
// CHECK-LABEL: kernel lane{{$}}
// CHECK:          write 4 bytes at {{.*}}any[0..31]
extern "C" __global__ void lane(float *a) {
  a[__nvvm_read_ptx_sreg_laneid()] = 1;
}

// CHECK-LABEL: kernel last
extern "C" __global__ void last() {}

// The last block's share is that of the last block: it bounds no other's.
// CHECK-LABEL: kernel last_takes_the_rest{{$}}
// CHECK:          write 4 bytes at
// CHECK-NEXT:       while trunc32(k0) <s any[smin(-1*arg2*(-1 + gdim.x) + arg1, arg2)..smax(-1*arg2*(-1 + gdim.x) + arg1, arg2)]
extern "C" __global__ void last_takes_the_rest(float *a, int n, int tile) {
  int rows = tile;
  if (blockIdx.x == gridDim.x - 1)
    rows = n - tile * blockIdx.x;
  for (int i = 0; i < rows; ++i)
    a[(tile * blockIdx.x + i) * 128 + threadIdx.x] = 1;
}

// Of three ways, each is an access under its conditions. A bool among the arguments is one.
// CHECK-LABEL: kernel three_ways{{$}}
// CHECK-DAG:      write exact 4 bytes at 4*sext64(-1*(bid.x*bdim.x + tid.x) + arg1){{$[[:space:]]*}}if arg2 != 0
// CHECK-DAG:      write exact 4 bytes at 4*sext64(bid.x*bdim.x + arg1 + tid.x){{$[[:space:]]*}}if arg2 == 0{{$[[:space:]]*}}if arg3 != 0
// CHECK-DAG:      write exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x){{$[[:space:]]*}}if arg2 == 0{{$[[:space:]]*}}if arg3 == 0
extern "C" __global__ void three_ways(float *a, int n, bool down, bool far) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at;
  if (down)
    at = n - i;
  else if (far)
    at = i + n;
  else
    at = i;
  a[at] = 1;
}

// The same where the three values meet in one place, since they are not computed in advance.
// CHECK-LABEL: kernel three_ways_meet{{$}}
// CHECK-DAG:      write exact 4 bytes at 4*sext64(sdiv(bid.x*bdim.x + tid.x, arg1)){{$[[:space:]]*}}if arg2 != 0
// CHECK-DAG:      write exact 4 bytes at 4*sext64(srem(bid.x*bdim.x + tid.x, arg1)){{$[[:space:]]*}}if arg2 == 0{{$[[:space:]]*}}if arg3 != 0
// CHECK-DAG:      write exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x){{$[[:space:]]*}}if arg2 == 0{{$[[:space:]]*}}if arg3 == 0
extern "C" __global__ void three_ways_meet(float *a, int n, bool down, bool far) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at;
  if (down)
    at = i / n;
  else if (far)
    at = i % n;
  else
    at = i;
  a[at] = 1;
}
