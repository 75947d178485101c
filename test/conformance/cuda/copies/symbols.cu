// Copies to and from __device__ and __constant__ variables, with offsets, and
// their addresses and sizes.
// RUN: %conforms %s
#include "conformance.h"

__device__ int Values[16] = {1, 2, 3};
__constant__ float Factors[4] = {0.5f, 2.0f};
__device__ double Scalar;

__global__ void use(float *out) {
  out[threadIdx.x] = Values[threadIdx.x] * Factors[1] + Scalar;
  Values[threadIdx.x] += 100;
}

int main() {
  int h[16];
  CHECK(cudaMemcpyFromSymbol(h, Values, sizeof h));
  REQUIRE(h[0] == 1 && h[2] == 3 && h[3] == 0);
  for (int i = 0; i < 8; ++i)
    h[i] = 50 + i;
  CHECK(cudaMemcpyToSymbol(Values, h, 8 * sizeof(int), 8 * sizeof(int)));
  float four = 4;
  CHECK(cudaMemcpyToSymbolAsync(Factors, &four, sizeof four, sizeof(float),
                                cudaMemcpyHostToDevice, 0));
  void *address;
  size_t bytes;
  CHECK(cudaGetSymbolAddress(&address, Scalar));
  CHECK(cudaGetSymbolSize(&bytes, Scalar));
  REQUIRE(address && bytes == sizeof(double));
  CHECK(cudaGetSymbolSize(&bytes, Values));
  REQUIRE(bytes == sizeof h);
  double quarter = 0.25;
  CHECK(cudaMemcpy(address, &quarter, sizeof quarter, cudaMemcpyHostToDevice));
  float *out = onDevice<float>(16);
  use<<<1, 16>>>(out);
  auto r = fetch(out, 16);
  REQUIRE(r[0] == 4.25f && r[3] == 0.25f && r[8] == 200.25f &&
          r[15] == 57 * 4 + 0.25f);
  CHECK(cudaMemcpyFromSymbolAsync(h, Values, 4, 15 * sizeof(int),
                                  cudaMemcpyDeviceToHost, 0));
  CHECK(cudaDeviceSynchronize());
  REQUIRE(h[0] == 157);
  int local;
  REFUSED(cudaErrorInvalidSymbol,
          cudaMemcpyToSymbol((const void *)&local, h, 4));
  return 0;
}
