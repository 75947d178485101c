// What moves, to the byte: nothing is fetched that is not read, nothing is written back that is not wanted, and a run
// within its budget moves each byte once.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program && %build -DDEAD %s -o dead && %bytes in.bin 16M ledger
//   Read once for both launches, slice by slice. The last results' place is known: no swap.
// RUN: %tight DRAGON_STATS=once.json ./program in.bin out.bin
// RUN: %ledger once.json 'file_to_host == 16*M' 'host_to_device == file_to_host' 'host_to_file == 16*M' \
// RUN:   'device_to_host == 16*M' 'swap_in == 0' 'swap_out == 0' 'launches_together == 2'
//   One by one: read again for the second launch but for what is still there.
// RUN: %tight DRAGON_WAVEFRONT=off DRAGON_STATS=twice.json ./program in.bin out.bin
// RUN: %ledger twice.json 'file_to_host <= 32*M' 'file_to_host >= 24*M' 'host_to_device == file_to_host' \
// RUN:   'swap_in == 0' 'swap_out == 0'
// RUN: %tight DRAGON_STATS=dead.json ./dead in.bin out.bin
// RUN: %ledger dead.json 'file_to_host == 16*M' 'swap_in == 0' 'host_to_file == 0'
// RUN: %strict DRAGON_DEVICE_MEMORY=64M DRAGON_STATS=fits.json ./program in.bin out.bin
// RUN: %ledger fits.json 'file_to_host == 16*M' 'host_to_device == 16*M' 'device_to_host == 16*M' \
// RUN:   'host_to_file == 16*M' 'swap_out == 0' 'sliced_launches == 0'
// RUN: %tight DRAGON_STATS=- ./program in.bin out.bin 2>&1 | FileCheck %s
// CHECK: file to host
// CHECK: host to device
// CHECK: device to host
// CHECK: host to file
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
}

__global__ void more(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]) + 1;
}

int main(int, char **argv) {
  const int n = 4 << 20;
  FILE *in = openFile(argv[1], "rb");
  FILE *out = openFile(argv[2], "wb");
  uint32_t *h = (uint32_t *)malloc(n * 4);
  REQUIRE(fread(h, 4, n, in) == n);
  fclose(in);
  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * 4));
  CHECK(cudaMalloc(&d_out, n * 4));
  CHECK(cudaMemcpy(d_in, h, n * 4, cudaMemcpyHostToDevice));
  work<<<n / 256, 256>>>(d_in, d_out, n);
#ifdef DEAD // the results are never wanted
  CHECK(cudaDeviceSynchronize());
#else
  // The first results are overwritten before anybody reads them.
  more<<<n / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(h, d_out, n * 4, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(h, 4, n, out) == n);
#endif
  REQUIRE(fclose(out) == 0);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
  return 0;
}
