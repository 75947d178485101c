// The ways to launch: <<<>>>, cudaLaunchKernel, cudaLaunchKernelEx,
// cudaLaunchCooperativeKernel of one block.
// RUN: %conforms %s
#include "conformance.h"

struct Pair {
  char tag;
  double value;
};

__global__ void kernel(int *out, Pair pair, short offset, float3 v) {
  out[threadIdx.x] = pair.tag + (int)pair.value + offset + (int)v.z;
}

int main() {
  int *out = onDevice<int>(32);
  Pair pair{1, 20.5};
  short offset = 300;
  float3 v = make_float3(0, 0, 4000);
  kernel<<<1, 32>>>(out, pair, offset, v);
  REQUIRE(fetch(out, 32)[31] == 4321);
  offset = 301;
  void *args[] = {&out, &pair, &offset, &v};
  CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), args, 0, 0));
  REQUIRE(fetch(out, 32)[31] == 4322);
  offset = 302;
  CHECK(cudaLaunchCooperativeKernel((const void *)kernel, dim3(1), dim3(32),
                                    args, 0, 0));
  REQUIRE(fetch(out, 32)[31] == 4323);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  CHECK(cudaLaunchKernelEx(&config, kernel, out, pair, short(303), v));
  REQUIRE(fetch(out, 32)[0] == 4324);
  void (*pointer)(int *, Pair, short, float3) = kernel;
  pointer<<<dim3(1, 1, 1), dim3(8, 2, 2)>>>(out, pair, 304, v);
  CHECK(cudaGetLastError());
  REQUIRE(fetch(out, 32)[0] == 4325);
  return 0;
}
