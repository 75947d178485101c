// cuda::pipeline of a thread, __pipeline_memcpy_async.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda/pipeline>
#include <cuda_pipeline.h>

__global__ void withPipeline(const int *in, int *out) {
  __shared__ int stage[2][128];
  auto pipeline = cuda::make_pipeline();
  int sum = 0, t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&stage[i][t], in + i * 128 + t, sizeof(int), pipeline);
    pipeline.producer_commit();
  }
  for (int i = 0; i < 2; ++i) {
    pipeline.consumer_wait();
    sum += stage[i][t];
    pipeline.consumer_release();
  }
  out[t] = sum;
}

__global__ void withPrimitives(const int4 *in, int4 *out) {
  __shared__ int4 buffer[32];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&buffer[t], in + t, sizeof(int4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = buffer[31 - t];
}

int main() {
  std::vector<int> values(256);
  for (int i = 0; i < 256; ++i)
    values[i] = 3 * i;
  int *in = onDevice(values), *out = onDevice<int>(128);
  withPipeline<<<1, 128>>>(in, out);
  auto h = fetch(out, 128);
  for (int t = 0; t < 128; ++t)
    REQUIRE(h[t] == 3 * t + 3 * (t + 128));
  withPrimitives<<<1, 32>>>((int4 *)in, (int4 *)out);
  h = fetch(out, 128);
  for (int t = 0; t < 128; ++t)
    REQUIRE(h[t] == 3 * ((31 - t / 4) * 4 + t % 4));
  return 0;
}
