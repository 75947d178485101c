// Results appended to one file, several a run, over two runs, with lines of text between them.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 6M append
// RUN: %plain ./program in.bin plain.bin && %plain ./program in.bin plain.bin
// RUN: %tight ./program in.bin tight.bin && %tight ./program in.bin tight.bin
// RUN: cmp plain.bin tight.bin
//   Two runs of three pieces of 6 MiB, each with a line of 12 bytes in front:
// RUN: wc -c < tight.bin | FileCheck %s
// CHECK: {{^}}37748808{{$}}
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void work(uint32_t *data, int n, uint32_t key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i] + key);
}

int main(int, char **argv) {
  FILE *in = openFile(argv[1], "rb");
  FILE *out = openFile(argv[2], "ab");
  const int n = 6 << 18;
  uint32_t *h = (uint32_t *)malloc(n * 4);
  uint32_t *d, *e;
  CHECK(cudaMalloc(&d, n * 4));
  CHECK(cudaMalloc(&e, n * 4));
  REQUIRE(fread(h, 4, n, in) == n);
  CHECK(cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice));
  for (uint32_t round = 0; round < 3; ++round) {
    work<<<n / 256, 256>>>(d, n, round);
    CHECK(cudaMemcpy(e, d, n * 4, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(h, e, n * 4, cudaMemcpyDeviceToHost));
    fprintf(out, "round %05u\n", round);
    if (fwrite(h, 4, n, out) != n)
      return EXIT_FAILURE;
  }
  fclose(in);
  REQUIRE(fclose(out) == 0);
  return 0; // nothing is freed
}
