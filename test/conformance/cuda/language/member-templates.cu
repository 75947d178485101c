// Member templates named without `template` in kernels, where their class is a template's parameter.
// RUN: %conforms %s
#include "conformance.h"

struct Plus {
  int with;
  template <int N> __device__ static int twice(int x) { return 2 * x + N; }
  template <int N> __device__ int add(int x) const { return x + with + N; }
};

struct Times {
  int with;
  template <int N> __device__ static int twice(int x) { return 2 * x * N; }
  template <int N> __device__ int add(int x) const { return x * with * N; }
};

template <class Op> __global__ void kernel(int *out, Op op) {
  Op *pointer = &op;
  out[0] = Op::twice<4>(5) + Op::twice<1>(3);
  out[1] = op.add<2>(7);
  out[2] = pointer->add<3>(8);
}

template <class T> struct Holds {
  static const int limit = 3;
};

// A comparison stays one.
template <class T> __global__ void compare(int *out, int n) {
  out[0] = (Holds<T>::limit < 4) > (n);
}

int main() {
  int *out = onDevice<int>(3);
  kernel<<<1, 1>>>(out, Plus{1});
  auto h = fetch(out, 3);
  REQUIRE(h[0] == 14 + 7 && h[1] == 10 && h[2] == 12);
  kernel<<<1, 1>>>(out, Times{2});
  h = fetch(out, 3);
  REQUIRE(h[0] == 40 + 6 && h[1] == 28 && h[2] == 48);
  compare<int><<<1, 1>>>(out, 0);
  REQUIRE(fetch(out, 1)[0] == 1);
  return 0;
}
