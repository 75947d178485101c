// Lambdas that are made on the host and run on the device.
// FLAGS: --extended-lambda --expt-relaxed-constexpr
// RUN: %conforms %s
#include "conformance.h"

template <typename F> __global__ void apply(int *data, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = f(i);
}

constexpr int square(int x) { return x * x; }

int main() {
  int *data = onDevice<int>(300);
  int factor = 3;
  apply<<<3, 128>>>(data, 300, [=] __device__(int i) { return factor * i; });
  auto h = fetch(data, 300);
  REQUIRE(h[299] == 897);
  auto both = [=] __host__ __device__(int i) { return square(i) + factor; };
  apply<<<3, 128>>>(data, 300, both);
  h = fetch(data, 300);
  REQUIRE(h[20] == both(20) && h[20] == 403);
  return 0;
}
