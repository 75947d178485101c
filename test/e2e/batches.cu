// A file in batches: each batch is read into the same staging buffer, computed in the same device buffers and written,
// with buffers that live on between batches.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 40M batches
// RUN: %plain ./program in.bin plain.bin && %tight ./program in.bin tight.bin
// RUN: cmp plain.bin tight.bin && ./program in.bin tight.bin check
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void work(const uint32_t *in, uint32_t *carry, uint32_t *out,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = scramble(in[i] + carry[i]);
    carry[i] = in[i];
  }
}

const int n = 10 << 18;
const size_t bytes = (size_t)n * 4;

int main(int argc, char **argv) {
  if (argc == 4) {
    std::vector<uint32_t> words = slurp(argv[1]), result(words.size());
    for (size_t i = 0; i < words.size(); ++i)
      result[i] = scramble(words[i] + (i < n ? 5 : words[i - n]));
    expectFile(argv[2], result);
    return 0;
  }
  FILE *in = openFile(argv[1], "rb");
  FILE *out = openFile(argv[2], "wb");
  uint32_t *h_in = (uint32_t *)malloc(bytes);
  uint32_t *h_out = (uint32_t *)malloc(bytes);
  uint32_t *d_in, *d_carry, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_carry, bytes));
  std::vector<uint32_t> five(n, 5);
  CHECK(cudaMemcpy(d_carry, five.data(), bytes, cudaMemcpyHostToDevice));
  while (fread(h_in, 4, n, in) == n) {
    CHECK(cudaMemcpy(d_in, h_in, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&d_out, bytes));
    work<<<n / 256, 256>>>(d_in, d_carry, d_out, n);
    CHECK(cudaMemcpy(h_out, d_out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_out));
    REQUIRE(fwrite(h_out, 4, n, out) == n);
  }
  REQUIRE(feof(in));
  fclose(in);
  REQUIRE(fclose(out) == 0);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_carry));
  free(h_in);
  free(h_out);
  return 0;
}
