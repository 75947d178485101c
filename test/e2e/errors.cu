// Error codes as CUDA programs know them, and what the device says of itself.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program && %tight ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void touch(int *data) { data[threadIdx.x] = 1; }

int main() {
  int count = 0, device = -1, version = 0;
  CHECK(cudaGetDeviceCount(&count));
  REQUIRE(count >= 1);
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  REQUIRE(device == 0);
  REQUIRE(cudaSetDevice(count) == cudaErrorInvalidDevice);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(cudaRuntimeGetVersion(&version));
  REQUIRE(version >= 12000);

  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  REQUIRE(properties.name[0] && properties.warpSize == 32);
  REQUIRE(properties.maxThreadsPerBlock >= 512);
  REQUIRE(properties.multiProcessorCount >= 1);
  int threads = 0;
  CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
  REQUIRE(threads == properties.maxThreadsPerBlock);

  // What can be used is more than the device holds.
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  REQUIRE(free > 0 && free <= total);
  REQUIRE(total >= 16 << 20);
  int *d;
  CHECK(cudaMalloc(&d, 64 << 20));
  CHECK(cudaMemset(d, 0, 64 << 20));
  CHECK(cudaFree(d));

  // Failures leave the pointer alone, and the next call works.
  int *untouched = (int *)16;
  REQUIRE(cudaMalloc(&untouched, (size_t)1 << 60) == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&d, 0));
  REQUIRE(d == nullptr);
  CHECK(cudaFree(nullptr));
  CHECK(cudaMalloc(&d, 4096));
  REQUIRE(cudaMemcpy(d, d, 16, (cudaMemcpyKind)77) ==
          cudaErrorInvalidMemcpyDirection);
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
  int local = 3;
  REQUIRE(cudaFree(&local) == cudaErrorInvalidValue);
  cudaGetLastError();

  // Launches that cannot be. The code for too many threads has changed over
  // the versions of CUDA.
  touch<<<1, 4096>>>(d);
  cudaError_t status = cudaGetLastError();
  REQUIRE(status == cudaErrorInvalidConfiguration ||
          status == cudaErrorInvalidValue);
  touch<<<0, 32>>>(d);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);
  touch<<<1, 32>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  int h[32];
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  REQUIRE(h[0] == 1 && h[31] == 1);

  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, d + 5));
  REQUIRE(attributes.type == cudaMemoryTypeDevice);
  REQUIRE(attributes.devicePointer == d + 5);
  CHECK(cudaPointerGetAttributes(&attributes, &local));
  REQUIRE(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(cudaFree(d));
  REQUIRE(!strcmp(cudaGetErrorName(cudaErrorInvalidValue),
                  "cudaErrorInvalidValue"));
  REQUIRE(
      !strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"));
  cudaFuncAttributes function;
  CHECK(cudaFuncGetAttributes(&function, touch));
  REQUIRE(function.maxThreadsPerBlock >= 1);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 32, 0));
  REQUIRE(blocks >= 1);
  return 0;
}
