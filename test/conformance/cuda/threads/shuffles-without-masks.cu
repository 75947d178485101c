// Shuffles and votes of before Volta, without masks: among the active threads.
// REFUSED: nvcc: __shfl :: the GPUs that this is for are older than CUDA 13
// RUN: %conforms %s
#include "conformance.h"

__global__ void kernel(int *out, double *doubles) {
  int t = threadIdx.x;
  out[t] = __shfl(t * 2, 7);
  out[32 + t] = __shfl_down(t, 3);
  out[64 + t] = __shfl_xor(t, 1);
  out[96 + t] =
      __ballot(t % 2) == 0xaaaaaaaa && __any(t == 3) && !__all(t == 3);
  out[128 + t] = 0;
  if (t >= 8 && t < 24) {
    out[128 + t] = __shfl_up(t, 1, 8) + (__ballot(1) == 0x00ffff00 ? 100 : 0);
    for (int i = 0; i < t; ++i)
      out[128 + t] += i % 2;
  }
  double sum = t + 0.5;
  for (int distance = 16; distance; distance /= 2)
    sum += __shfl_down(sum, distance);
  doubles[t] = __shfl(sum, 0);
}

int main() {
  int *out = onDevice<int>(160);
  double *doubles = onDevice<double>(32);
  kernel<<<1, 32>>>(out, doubles);
  CHECK(cudaGetLastError());
  auto h = fetch(out, 160);
  auto sums = fetch(doubles, 32);
  for (int t = 0; t < 32; ++t)
    REQUIRE(h[t] == 14 && h[32 + t] == (t < 29 ? t + 3 : t) &&
            h[64 + t] == (t ^ 1) && h[96 + t] && sums[t] == 512 &&
            h[128 + t] ==
                (t < 8 || t >= 24 ? 0 : 100 + t / 2 + (t % 8 ? t - 1 : t)));
  return 0;
}
