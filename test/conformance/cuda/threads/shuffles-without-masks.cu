// Shuffles and votes of before Volta, without masks.
// REFUSED: gpu: shfl :: the GPUs that this is for are older than CUDA 13
// REFUSED: nvcc: __shfl :: the GPUs that this is for are older than CUDA 13
// RUN: %conforms %s
#include "conformance.h"

__global__ void kernel(int *out) {
  int t = threadIdx.x;
  out[t] = __shfl(t * 2, 7);
  out[32 + t] = __shfl_down(t, 3);
  out[64 + t] = __shfl_xor(t, 1);
  out[96 + t] =
      __ballot(t % 2) == 0xaaaaaaaa && __any(t == 3) && !__all(t == 3);
}

int main() {
  int *out = onDevice<int>(128);
  kernel<<<1, 32>>>(out);
  CHECK(cudaGetLastError());
  auto h = fetch(out, 128);
  for (int t = 0; t < 32; ++t)
    REQUIRE(h[t] == 14 && h[32 + t] == (t < 29 ? t + 3 : t) &&
            h[64 + t] == (t ^ 1) && h[96 + t]);
  return 0;
}
