// Kernels are given pointers to the ends of buffers and walk backwards: the bytes in front are meant, not the buffer that
// happens to come next. Of large and of small buffers.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 16M ends
// RUN: %plain ./program in.bin plain.bin && %tight ./program in.bin tight.bin
// RUN: cmp plain.bin tight.bin && %plain DRAGON_DEVICE_MEMORY=8M ./program in.bin budget.bin && cmp plain.bin budget.bin
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void backwards(const uint32_t *end, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(end[-1 - i]);
}

int main(int, char **argv) {
  std::vector<uint32_t> words = slurp(argv[1]), result;
  for (int n : {64 << 10, 4 << 20}) {
    const size_t bytes = (size_t)n * 4;
    uint32_t *in, *out, *before, *after; // addresses may go up or down
    CHECK(cudaMalloc(&before, bytes));
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&after, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemcpy(in, words.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(before, 1, bytes));
    CHECK(cudaMemset(after, 1, bytes));
    backwards<<<n / 256, 256>>>(in + n, out, n);
    result.assign(n, 0);
    CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
      REQUIRE(result[i] == scramble(words[n - 1 - i]));
    CHECK(cudaFree(in));
    CHECK(cudaFree(before));
    CHECK(cudaFree(after));
    CHECK(cudaFree(out));
  }
  FILE *file = openFile(argv[2], "wb");
  REQUIRE(fwrite(result.data(), 4, result.size(), file) == result.size());
  REQUIRE(fclose(file) == 0);
  return 0;
}
