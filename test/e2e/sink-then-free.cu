// Once results have gone to their place in a file, nobody needs them, nor the staging buffer that stands for them: they are not
// copied to it when the device memory is freed, where two streams keep the compiler from discarding them first.
//
// RUN: %build -fno-exceptions -fdragon-trace-accesses %s -Rpass=dragon -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %plain DRAGON_CHECK=1 DRAGON_STATS=%t.json %t %t.out
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tight DRAGON_CHECK=1 %t %t.out
// RUN: rm %t %t.out %t.json
#include "e2e.h"

constexpr int N = 3 << 20; // 12 MiB

__global__ void set(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i * 3;
}

int main(int, char **argv) {
  FILE *out = fopen(argv[1], "wb+");
  REQUIRE(out != nullptr);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int *d_data;
  CHECK(cudaMalloc(&d_data, N * sizeof(int)));
  std::vector<int> staging(N);
  // REMARK: 'staging' elided
  // REMARK: 'd_data' evicted straight to its place in the file
  // REMARK-NOT: 'd_data' discarded
  set<<<N / 256, 256, 0, stream>>>(d_data);
  CHECK(cudaMemcpy(staging.data(), d_data, N * sizeof(int),
                   cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(staging.data(), sizeof(int), N, out) == N);
  CHECK(cudaFree(d_data));
  rewind(out);
  for (int i = 0, word; i < N; ++i)
    REQUIRE(fread(&word, sizeof(word), 1, out) == 1 && word == i * 3);
  // STATS: "device_to_host": {
  // STATS-NEXT: "bytes": 12582912,
  return fclose(out);
}
