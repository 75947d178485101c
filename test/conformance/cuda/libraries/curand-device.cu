// cuRAND in kernels: sequences are repeatable, uniform and normal numbers have
// their means; generators of each kind.
// RUN: %conforms %s
#include "conformance.h"
#include <curand_kernel.h>

template <typename State>
__global__ void generate(unsigned long long seed, float *uniform, float *normal,
                         unsigned *raw) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  curand_init(seed, t, 0, &state);
  float u = 0, n = 0;
  for (int i = 0; i < 64; ++i) {
    u += curand_uniform(&state);
    n += curand_normal(&state);
  }
  uniform[t] = u / 64, normal[t] = n / 64;
  raw[t] = curand(&state);
}

template <typename State> void check() {
  const int n = 256;
  float *u = onDevice<float>(n), *m = onDevice<float>(n);
  unsigned *raw = onDevice<unsigned>(n);
  generate<State><<<4, 64>>>(1234, u, m, raw);
  auto uniform = fetch(u, n), normal = fetch(m, n);
  auto first = fetch(raw, n);
  double a = 0, b = 0;
  for (int i = 0; i < n; ++i)
    a += uniform[i] / n, b += normal[i] / n;
  REQUIRE(fabs(a - 0.5) < 0.02 && fabs(b) < 0.05);
  REQUIRE(first[0] != first[1]);
  generate<State><<<4, 64>>>(1234, u, m, raw);
  REQUIRE(fetch(raw, n) == first);
}

int main() {
  check<curandStateXORWOW_t>();
  check<curandStatePhilox4_32_10_t>();
  check<curandStateMRG32k3a_t>();
  return 0;
}
