// Divisions of integers by 0, and of the least number by -1: a GPU gives some
// number, and the program goes on.
// RUN: %clang -x cuda %s --cuda-path=%cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -O2 -Xclang -disable-llvm-passes -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' %t.bc -o %t.host.bc 2>&1 | count 0
// RUN: %clang -O2 -x ir -Wno-override-module -c %t.host.bc -o %t.o
// RUN: %clang -std=c++20 -O1 -I%S/../../.. -I%S/../../../include -I%S/Inputs -x c++ %s -x none %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: all right

#ifdef __CUDA__
extern "C" {
__global__ void ints(const int *a, const int *b, int *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  o[4 * i] = a[i] / b[i];
  o[4 * i + 1] = a[i] % b[i];
  o[4 * i + 2] = (unsigned)a[i] / (unsigned)b[i];
  o[4 * i + 3] = (unsigned)a[i] % (unsigned)b[i];
}
__global__ void longs(const long long *a, const long long *b, long long *o,
                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  o[2 * i] = a[i] / b[i];
  o[2 * i + 1] = (unsigned long long)a[i] % (unsigned long long)b[i];
}
}
#else
#include "KernelHarness.h"
#include <climits>

using namespace harness;

int main() {
  const std::vector<int> numbers{0, 1, -1, 2, -7, 100, INT_MAX, INT_MIN};
  std::vector<int> a, b;
  std::vector<long long> la, lb;
  for (int x : numbers)
    for (int y : numbers) {
      a.push_back(x);
      b.push_back(y);
      la.push_back(x == INT_MIN ? LLONG_MIN : x);
      lb.push_back(y);
    }
  const int n = int(a.size());
  std::vector<int> o(n * 4);
  std::vector<long long> lo(n * 2);
  launch("ints", {1}, {64}, 0, a.data(), b.data(), o.data(), n);
  launch("longs", {1}, {64}, 0, la.data(), lb.data(), lo.data(), n);
  for (int i = 0; i < n; ++i) {
    if (b[i] == 0)
      continue;
    const bool least = a[i] == INT_MIN && b[i] == -1;
    equal("quotient", i, o[4 * i], least ? INT_MIN : a[i] / b[i]);
    equal("rest", i, o[4 * i + 1], least ? 0 : a[i] % b[i]);
    equal("unsigned quotient", i, o[4 * i + 2],
          int((unsigned)a[i] / (unsigned)b[i]));
    equal("unsigned rest", i, o[4 * i + 3],
          int((unsigned)a[i] % (unsigned)b[i]));
    const bool longLeast = la[i] == LLONG_MIN && lb[i] == -1;
    equal("long quotient", i, lo[2 * i],
          longLeast ? LLONG_MIN : la[i] / lb[i]);
    equal("long unsigned rest", i, lo[2 * i + 1],
          (long long)((unsigned long long)la[i] % (unsigned long long)lb[i]));
  }
  return finish();
}
#endif
