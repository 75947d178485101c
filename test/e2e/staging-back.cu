// What is copied to the host and to the device again, unchanged, stays on the device, in core and beyond; the host gets what it
// reads in between and in the end.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon 2>&1 | FileCheck %s
// RUN: %plain DRAGON_ELIDE=0 ./program 8 >plain.txt
//   Of 8 MiB each way in each of eight iterations: once, and the numbers that are printed.
// RUN: %strict DRAGON_STATS=incore.json ./program 8 >incore.txt && cmp incore.txt plain.txt
// RUN: %ledger incore.json 'host_to_device <= 9*M' 'device_to_host <= 9*M' 'avoided_elided_staging >= 52*M'
// RUN: %tight ./program 8 >tight.txt && cmp tight.txt plain.txt
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void change(uint32_t *image, size_t n, uint32_t by) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    image[i] = image[i] * 3 + by;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  const size_t n = 2 << 20;
  auto *image = static_cast<uint32_t *>(malloc(n * 4));
  uint32_t *device;
  CHECK(cudaMalloc(&device, n * 4));
  for (size_t i = 0; i < n; ++i)
    image[i] = scramble(uint32_t(i));
  for (int iteration = 0; iteration < atoi(argv[1]); ++iteration) {
    // CHECK: staging-back.cu:[[#@LINE+1]]:{{.*}}'image' elided: bytes of 'device' copied out at line [[#@LINE+3]] are copied in again without passing through it
    CHECK(cudaMemcpy(device, image, n * 4, cudaMemcpyHostToDevice));
    change<<<unsigned(n / 256), 256>>>(device, n, uint32_t(iteration));
    CHECK(cudaMemcpy(image, device, n * 4, cudaMemcpyDeviceToHost));
    printf("%u %u\n", image[iteration], image[n - 1]);
  }
  uint32_t sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum = sum * 31 + image[i];
  printf("%u\n", sum);
  free(image);
  CHECK(cudaFree(device));
  return 0;
}
