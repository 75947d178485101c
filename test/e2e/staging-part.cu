// A host that reads a region, a column or a number of a staged array in each iteration: the array stays on the device, and what
// the host reads is brought to it, no more.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon -Rpass-missed=dragon 2>&1 | FileCheck %s
// RUN: %bytes in 8388608 3
// RUN: %plain DRAGON_ELIDE=0 ./program in plain 2048 100 140 300 420 >plain.txt
//   Of 8 MiB each way in each of four iterations: once from the file, and once to it.
// RUN: %strict DRAGON_STATS=incore.json ./program in incore 2048 100 140 300 420 >incore.txt
// RUN: cmp incore plain && cmp incore.txt plain.txt
// RUN: %ledger incore.json 'host_to_device <= 10*M' 'device_to_host <= 10*M' 'avoided_elided_staging >= 38*M'
// RUN: %tight ./program in tight 2048 100 140 300 420 >tight.txt
// RUN: cmp tight plain && cmp tight.txt plain.txt
//   All of it, and nothing.
// RUN: %plain DRAGON_ELIDE=0 ./program in plain 2048 0 1024 0 2048 >plain.txt
// RUN: %strict ./program in all 2048 0 1024 0 2048 >all.txt && cmp all plain && cmp all.txt plain.txt
// RUN: %plain DRAGON_ELIDE=0 ./program in plain 2048 7 7 9 3 >plain.txt
// RUN: %strict ./program in none 2048 7 7 9 3 >none.txt && cmp none plain && cmp none.txt plain.txt
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void change(uint32_t *image, size_t n, uint32_t by) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    image[i] = image[i] * 3 + by;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 8);
  const size_t n = 2 << 20;
  const long columns = atol(argv[3]), top = atol(argv[4]),
             bottom = atol(argv[5]), left = atol(argv[6]),
             right = atol(argv[7]);
  auto *image = static_cast<uint32_t *>(malloc(n * 4));
  uint32_t *device;
  CHECK(cudaMalloc(&device, n * 4));
  FILE *file = fopen(argv[1], "rb");
  REQUIRE(file && fread(image, 4, n, file) == n);
  fclose(file);
  for (int iteration = 0; iteration < 4; ++iteration) {
    // CHECK: staging-part.cu:[[#@LINE+6]]:{{.*}}'image' filled here, in part: host code looks at no more
    // CHECK: staging-part.cu:[[#@LINE+7]]:{{.*}}'image' filled here, in part
    // CHECK: staging-part.cu:[[#@LINE+7]]:{{.*}}'image' filled here, in part
    uint32_t region = 0, column = 0;
    for (long i = top; i < bottom; ++i)
      for (long j = left; j < right; ++j)
        region += image[i * columns + j];
    for (long i = bottom; i-- > top;)
      column ^= image[i * columns];
    printf("%u %u %u\n", region, column, image[n - 1]);
    CHECK(cudaMemcpy(device, image, n * 4, cudaMemcpyHostToDevice));
    change<<<unsigned(n / 256), 256>>>(device, n, region + column);
    CHECK(cudaMemcpy(image, device, n * 4, cudaMemcpyDeviceToHost));
  }
  file = fopen(argv[2], "wb");
  REQUIRE(file && fwrite(image, 4, n, file) == n);
  fclose(file);
  free(image);
  CHECK(cudaFree(device));
  return 0;
}
