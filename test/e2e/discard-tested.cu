// Intermediate data that the next iteration overwrites never leaves the device, as a test at run time has found; where it is
// not all overwritten, the rest is kept.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon -Rpass-missed=dragon 2>&1 | FileCheck %s
// RUN: %bytes in.bin 12M tested
// RUN: ./program in.bin whole.bin 0 && ./program in.bin part.bin 1000
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off DRAGON_STATS=whole.json \
// RUN:   ./program in.bin out.bin 0
// RUN: cmp out.bin whole.bin
//   Only the sums leave the device for lack of room: five iterations, and the copy out; and what makes room for a slice ahead.
// RUN: %ledger whole.json 'device_to_host < 7 * 12*M' 'avoided_discard >= 4 * 8*M'
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./program in.bin out.bin 1000
// RUN: cmp out.bin part.bin
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void forward(uint32_t *act, const uint32_t *in, int n, int skipped,
                        uint32_t step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - skipped)
    act[i] = in[i] + step;
}

__global__ void backward(uint32_t *sum, const uint32_t *act, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sum[i] = sum[i] * 3 + act[i];
}

int main(int, char **argv) {
  const int n = 3 << 20;
  const int skipped = atoi(argv[3]);
  std::vector<uint32_t> h = slurp(argv[1]);
  REQUIRE(h.size() == n);
  uint32_t *in, *act, *sum;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&act, n * 4));
  CHECK(cudaMalloc(&sum, n * 4));
  CHECK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(act, 7, n * 4));
  CHECK(cudaMemset(sum, 0, n * 4));
  const int blocks = (n + 255) / 256;
  for (uint32_t step = 0; step < 5; ++step) {
    forward<<<blocks, 256>>>(act, in, n, skipped, step);
    // CHECK: remark: 'act' discarded after 'backward' if a test at run time finds it overwritten by 'forward'
    backward<<<blocks, 256>>>(sum, act, n);
  }
  CHECK(cudaMemcpy(h.data(), sum, n * 4, cudaMemcpyDeviceToHost));
  FILE *out = openFile(argv[2], "wb");
  REQUIRE(fwrite(h.data(), 4, n, out) == n);
  fclose(out);
  return 0;
}
