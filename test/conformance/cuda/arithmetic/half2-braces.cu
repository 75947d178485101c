// half2 and __nv_bfloat162: assignment of what stands in braces, in device code.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename Two> __device__ Two assigned(int how) {
  Two v(7.0f, 8.0f);
  if (how == 0)
    v = {};
  if (how == 1)
    v = {1.0f, 2.0f};
  if (how == 2)
    v = {v.y, v.x};
  if (how == 3)
    v = Two(3.0f, 4.0f);
  return v;
}

template <typename Two> __device__ void all(float *out) {
  for (int how = 0; how < 4; ++how) {
    Two v = assigned<Two>(how);
    out[2 * how] = __low2float(v);
    out[2 * how + 1] = __high2float(v);
  }
}

__global__ void kernel(float *out) {
  all<__half2>(out);
  all<__nv_bfloat162>(out + 8);
}

int main() {
  const float expected[8] = {0, 0, 1, 2, 8, 7, 3, 4};
  float *out = onDevice<float>(16);
  kernel<<<1, 1>>>(out);
  auto h = fetch(out, 16);
  for (int i = 0; i < 16; ++i)
    REQUIRE(h[i] == expected[i % 8]);
  return 0;
}
