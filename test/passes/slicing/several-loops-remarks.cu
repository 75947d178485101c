// Remarks on several loops of a kernel: those of a function that is called twice, loops one after the other, and what has too many.
//
// RUN: %dragon-cc -O2 -arch=sm_90 --dragon-targets=cpu -fno-dragon-paging -c %s -o %t.o -w -Rpass=dragon -Rpass-missed=dragon 2>&1 | grep remark: \
// RUN:   | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O0 -arch=sm_90 --dragon-targets=cpu -fno-dragon-paging -c %s -o %t.o -w -Rpass=dragon -Rpass-missed=dragon 2>&1 | grep remark: \
// RUN:   | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O2 -arch=sm_90 --dragon-targets=cpu -fno-dragon-paging -fno-dragon-slicing -c %s -o %t.o -w -Rpass=dragon -Rpass-missed=dragon \
// RUN:   2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: remark:
#include <cuda_runtime.h>

#define FROM (blockIdx.x * blockDim.x + threadIdx.x)
#define STEP (gridDim.x * blockDim.x)

// A loop of a function that is called twice is two loops of the kernel.
static __device__ __noinline__ unsigned sumOf(const unsigned *x, int from, int to) {
  unsigned sum = 0;
  // CHECK: :[[#@LINE+2]]:3: remark: kernel 'twoHalves' can run in slices along this loop:
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'twoHalves' can run in slices along this loop:
  for (int i = from + FROM; i < to; i += STEP)
    sum += x[i];
  return sum;
}
__global__ void twoHalves(const unsigned *x, int n, unsigned *y) {
  const unsigned first = sumOf(x, 0, n / 2);
  y[FROM] = first ^ sumOf(x, n / 2, n);
}

// One that calls itself has no end of them.
static __device__ __noinline__ unsigned again(const unsigned *x, int n, int times) {
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'callsItself' cannot run in slices along this loop: it is in a function that calls itself;
  for (int i = FROM; i < n; i += STEP)
    sum += x[i];
  return times ? sum * again(x, n, times - 1) : sum;
}
__global__ void callsItself(const unsigned *x, int n, int times, unsigned *y) {
  y[FROM] = again(x, n, times);
}

__global__ void meanAndMore(const unsigned *m, int rows, int cols, unsigned *y) {
  unsigned sum = 0, more = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'meanAndMore' can run in slices along this loop:
  for (int r = 0; r < rows; ++r)
    sum += m[(long)r * cols + FROM];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'meanAndMore' can run in slices along this loop:
  for (int r = 0; r < rows; ++r)
    more += m[(long)r * cols + FROM] > sum / rows;
  y[FROM] = more;
}

// Five are too many: the first of those that are worth most is cut.
__global__ void five(const unsigned *x, int n, unsigned *y) {
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'five' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    sum += x[i];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'five' cannot run in slices along this loop: more than 4 loops of the kernel go through data;
  for (int i = FROM; i < n; i += STEP)
    sum = sum * 3 + x[i];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'five' cannot run in slices along this loop: more than 4 loops of the kernel go through data;
  for (int i = FROM; i < n; i += STEP)
    sum = sum * 5 + x[i];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'five' cannot run in slices along this loop: more than 4 loops of the kernel go through data;
  for (int i = FROM; i < n; i += STEP)
    sum = sum * 7 + x[i];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'five' cannot run in slices along this loop: more than 4 loops of the kernel go through data;
  for (int i = FROM; i < n; i += STEP)
    sum = sum * 9 + x[i];
  y[FROM] = sum;
}

// A loop that was unrolled by hand: the one for the rest begins where it stopped. What that needs is little, and is known.
__global__ void unrolled(const unsigned *x, int n, unsigned *y) {
  unsigned sum = 0;
  int i = FROM;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'unrolled' can run in slices along this loop:
  for (; i + 3 * (int)STEP < n; i += 4 * STEP)
    sum += x[i] + x[i + STEP] + x[i + 2 * STEP] + x[i + 3 * STEP];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'unrolled' cannot run in slices along this loop: what is behind it may access what its last iteration did;
  for (; i < n; i += STEP)
    sum += x[i];
  y[FROM] = sum;
}
