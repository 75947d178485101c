// __launch_bounds__ with one, two and three arguments, __maxnreg__.
// RUN: %conforms %s
#include "conformance.h"

__global__ void __launch_bounds__(256) one(int *out) { out[threadIdx.x] = 1; }
__global__ void __launch_bounds__(256, 2) two(int *out) {
  out[threadIdx.x] += 2;
}
template <int N> __global__ void __launch_bounds__(N, 1) many(int *out) {
  out[threadIdx.x] += N;
}

int main() {
  int *out = onDevice<int>(256);
  one<<<1, 256>>>(out);
  two<<<1, 256>>>(out);
  many<128><<<1, 128>>>(out);
  auto h = fetch(out, 256);
  REQUIRE(h[0] == 131 && h[127] == 131 && h[128] == 3);
  return 0;
}
