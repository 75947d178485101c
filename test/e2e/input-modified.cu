// A kernel changes its input buffer in place, over and over: the file keeps its bytes, and the changed chunks survive
// eviction.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir %t.dir/swap && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 30M modified && sha256sum in.bin > in.sum
// RUN: %plain ./program in.bin plain.bin
// RUN: %tight DRAGON_SWAP_DIR=swap DRAGON_STATS=stats.json ./program in.bin tight.bin
// RUN: cmp plain.bin tight.bin && ./program in.bin tight.bin check && sha256sum --check --quiet in.sum
//   30 MiB of changed data, 16 MiB of memory: the rest went to the swap, and none of it is left behind.
// RUN: %ledger stats.json 'swap_out >= 14*M' 'swap_in >= 14*M' 'file_to_host == 30*M'
// RUN: ls swap | count 0
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void work(uint32_t *data, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]) ^ i;
}

int main(int argc, char **argv) {
  const unsigned n = 30 << 18;
  if (argc == 4) {
    std::vector<uint32_t> words = slurp(argv[1]);
    for (int round = 0; round < 3; ++round)
      for (unsigned i = 0; i < n; ++i)
        words[i] = scramble(words[i]) ^ i;
    expectFile(argv[2], words);
    return 0;
  }
  FILE *in = openFile(argv[1], "rb");
  uint32_t *h = (uint32_t *)malloc((size_t)n * 4);
  uint32_t *d;
  if (fread(h, 4, n, in) != n)
    return EXIT_FAILURE;
  CHECK(cudaMalloc(&d, (size_t)n * 4));
  CHECK(cudaMemcpy(d, h, (size_t)n * 4, cudaMemcpyHostToDevice));
  for (int round = 0; round < 3; ++round)
    work<<<n / 256, 256>>>(d, n);
  CHECK(cudaDeviceSynchronize());
  FILE *out = openFile(argv[2], "wb"); // too late for evicted chunks
  CHECK(cudaMemcpy(h, d, (size_t)n * 4, cudaMemcpyDeviceToHost));
  if (fwrite(h, 4, n, out) != n)
    return EXIT_FAILURE;
  fclose(in);
  fclose(out);
  CHECK(cudaFree(d));
  free(h);
  return 0;
}
