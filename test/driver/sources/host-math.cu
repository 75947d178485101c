// Classification on either side, with and without std.
// RUN: %cc -fsyntax-only -Werror %s
// RUN: %cc -fsyntax-only -Werror -DWITH_STD %s
// NaNs are constants, not calls of functions that are nowhere.
// RUN: %cc -ptx -arch=sm_80 %s -o - | FileCheck %s
// CHECK-NOT: .extern

#ifdef WITH_STD
#include <cmath>
#include <iostream>
using namespace std;
#endif

template <class T> __host__ __device__ bool odd(T x) {
  return isnan(x) || !isfinite(x) || isinf(x) || signbit(x) || ::isnan(x) ||
         !::isfinite(x) || ::isinf(x) || ::signbit(x);
}

bool onHost(float x, double y, long double z) {
  return odd(x) || odd(y) || isnan(z) || isfinite(z) || isinf(z);
}

__global__ void kernel(bool *out, float x, double y) {
  *out = odd(x) || odd(y) || nan("") < y || nanf("1") < x;
}
