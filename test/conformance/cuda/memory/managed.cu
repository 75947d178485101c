// cudaMallocManaged: host and device see each other's writes; advice, prefetch,
// stream attachment.
// RUN: %conforms %s
#include "conformance.h"

__global__ void twice(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] *= 2;
}

int main() {
  const int n = 5000;
  int *data;
  CHECK(cudaMallocManaged(&data, n * sizeof(int)));
  for (int i = 0; i < n; ++i)
    data[i] = i;
  cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  cudaMemLocation host{cudaMemLocationTypeHost, 0};
  CHECK(cudaMemAdvise(data, n * sizeof(int), cudaMemAdviseSetPreferredLocation,
                      device));
  CHECK(cudaMemPrefetchAsync(data, n * sizeof(int), device, 0, 0));
  twice<<<20, 256>>>(data, n);
  CHECK(cudaMemPrefetchAsync(data, n * sizeof(int), host, 0, 0));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    REQUIRE(data[i] == 2 * i);
  data[7] = 100;
  twice<<<20, 256>>>(data, n);
  CHECK(cudaDeviceSynchronize());
  REQUIRE(data[7] == 200 && data[8] == 32);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamAttachMemAsync(stream, data, 0, cudaMemAttachSingle));
  twice<<<20, 256, 0, stream>>>(data, n);
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(data[7] == 400);
  return 0;
}
