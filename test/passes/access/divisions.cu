// Quotients and rests of an index by a constant are as good as variables: what conditions say of rows and columns holds of
// the bytes, and they are promised where they are written for sure.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %device -O1 %s -o /dev/null -fpass-plugin=%builddir/lib/libDragonPasses.so -mllvm -dragon-summary=%t/s
// RUN: dragon-footprint %t/s.sm_90 columns 2 16 - 30 | FileCheck %s --check-prefix=COLUMNS
// RUN: dragon-footprint %t/s.sm_90 columns 2 16 box=1:2 - 30 | FileCheck %s --check-prefix=SLICE
// RUN: dragon-footprint %t/s.sm_90 parity 4 8 - | FileCheck %s --check-prefix=PARITY
// RUN: dragon-footprint %t/s.sm_90 neighbours 1 16 - - | FileCheck %s --check-prefix=NEIGHBOURS
// RUN: dragon-footprint %t/s.sm_90 from_above 1 8 - | FileCheck %s --check-prefix=ABOVE
// RUN: dragon-footprint %t/s.sm_90 narrow 1 300 - | FileCheck %s --check-prefix=NARROW
// RUN: dragon-footprint %t/s.sm_90 by_data 1 16 - - | FileCheck %s --check-prefix=DATA
// RUN: dragon-footprint %t/s.sm_90 by_multiplication 2 16 - 30 2576980378 3 5 | FileCheck %s --check-prefix=FIVES
// RUN: dragon-footprint %t/s.sm_90 by_multiplication 2 16 - 30 1 0 1 | FileCheck %s --check-prefix=ONES
// RUN: dragon-footprint %t/s.sm_90 by_structure 2 16 - 30 '{0:4=2576980378,4:4=3,8:4=5}' | FileCheck %s --check-prefix=FIVES
#include "device.h"

// Rows of eight without the first element, of an index over blocks; the last row is not whole.
// COLUMNS: a: write [4,32) [36,64) [68,96) [100,120) must [4,32) [36,64) [68,96) [100,120){{$}}
// SLICE: a: write [68,96) [100,120) must [68,96) [100,120){{$}}
extern "C" __global__ void columns(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 8 > 0)
    a[i] = 1;
}

// Every second block.
// PARITY: a: write [0,32) [64,96) must [0,32) [64,96){{$}}
extern "C" __global__ void parity(float *a) {
  if (blockIdx.x % 2 == 0)
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// The nine neighbours of each point of four by four: row and loop share a condition, so each k is a case. Plane k lacks
// the row or column that no point has for a neighbour there.
// NEIGHBOURS: a: write [0,12) [16,28) [32,44) [64,112) [132,144) [148,160) [164,176) [192,204) [208,220) {{.*}} [564,576) must [0,12) [16,28) [32,44) [64,112)
// NEIGHBOURS: b: read [0,64)
extern "C" __global__ void neighbours(float *a, const float *b) {
  int i = threadIdx.x;
  for (int k = 0; k < 9; ++k) {
    int y = i / 4 + k / 3 - 1, x = i % 4 + k % 3 - 1;
    if (y >= 0 && y < 4 && x >= 0 && x < 4)
      a[k * 16 + y * 4 + x] = b[i];
  }
}

// A range check of an index that counts from the end, as one comparison of unsigned numbers.
// ABOVE: a: write [0,20) must [0,20){{$}}
extern "C" __global__ void from_above(float *a) {
  int i = threadIdx.x - 5;
  if (unsigned(-5) <= unsigned(i))
    a[threadIdx.x] = 1;
}

// What wraps is a rest, too.
// NARROW: a: write [0,1024) must [0,1024){{$}}
extern "C" __global__ void narrow(float *a) {
  a[(unsigned char)threadIdx.x] = 1;
}

// The rest of a number that nobody knows is none that can be promised.
// DATA: a: write [0,16){{$}}
extern "C" __global__ void by_data(float *a, const int *b) {
  a[(unsigned)b[threadIdx.x] % 4] = 1;
}

// Division by a number of the launch, as programs do it: multiplied by what the host has computed. (n * m + 2^32 * n) >> 32 + s is
// n / d. Six rows of five, of eight.
// FIVES: a: write [0,20) [32,52) [64,84) [96,116) [128,148) [160,180) must [0,20) [32,52) [64,84) [96,116) [128,148) [160,180){{$}}
// ONES: a: write [0,4) [32,36) {{.*}} [928,932) must [0,4) [32,36)
extern "C" __global__ void by_multiplication(float *a, unsigned n, unsigned m, unsigned s, unsigned d) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned quotient = (__nvvm_mulhi_ui(i, m) + i) >> s;
    a[quotient * 8 + i - quotient * d] = 1;
  }
}

// The same with its three numbers in a structure, which goes from call to call by value.
struct Divisor {
  unsigned multiplier, shift, number;
};
__device__ unsigned quotient(unsigned i, const Divisor by) { return (__nvvm_mulhi_ui(i, by.multiplier) + i) >> by.shift; }
__device__ unsigned rest(unsigned i, const Divisor by) { return i - quotient(i, by) * by.number; }
extern "C" __global__ void by_structure(float *a, unsigned n, Divisor by) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[quotient(i, by) * 8 + rest(i, by)] = 1;
}
