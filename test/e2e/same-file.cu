// The input file is also the output file: read, closed, opened for writing (which empties it) and written; updated in
// place through "r+b"; and through one descriptor with pread and pwrite. The deferred input must have been saved
// before the file changes.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 20M same && cp in.bin expect.bin && ./program expect expect.bin
// RUN: for mode in reopen early update descriptor; do \
// RUN:   cp in.bin plain.bin && %plain ./program $mode plain.bin && cmp plain.bin expect.bin || exit 1; \
// RUN:   cp in.bin tight.bin && %tight ./program $mode tight.bin && cmp tight.bin expect.bin || exit 1; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <fcntl.h>
#include <unistd.h>

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]) + i;
}

const int n = 5 << 20;
const size_t bytes = (size_t)n * 4;

static void compute(const uint32_t *h, uint32_t *result) {
  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
  work<<<n / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(result, d_out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
}

int main(int, char **argv) {
  std::string mode = argv[1];
  const char *path = argv[2];
  if (mode == "expect") {
    std::vector<uint32_t> words = slurp(path);
    FILE *file = openFile(path, "wb");
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = scramble(words[i]) + i;
    fwrite(words.data(), 4, words.size(), file);
    fclose(file);
    return 0;
  }
  uint32_t *h = (uint32_t *)malloc(bytes);
  if (mode == "reopen") {
    FILE *in = openFile(path, "rb");
    REQUIRE(fread(h, 4, n, in) == n);
    fclose(in);
    compute(h, h);
    FILE *out = openFile(path, "wb");
    REQUIRE(fwrite(h, 4, n, out) == n);
    REQUIRE(fclose(out) == 0);
  } else if (mode == "early") {
    // Emptied before the kernel runs.
    FILE *in = openFile(path, "rb");
    REQUIRE(fread(h, 4, n, in) == n);
    FILE *out = openFile(path, "wb");
    uint32_t *result = (uint32_t *)malloc(bytes);
    compute(h, result);
    REQUIRE(fwrite(result, 4, n, out) == n);
    REQUIRE(fclose(out) == 0);
    fclose(in);
    free(result);
  } else if (mode == "update") {
    FILE *file = openFile(path, "r+b");
    REQUIRE(fread(h, 4, n, file) == n);
    rewind(file);
    uint32_t *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
    work<<<n / 256, 256>>>(d_in, d_out, n);
    CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
    REQUIRE(fwrite(h, 4, n, file) == n);
    REQUIRE(fclose(file) == 0);
  } else {
    int file = open(path, O_RDWR);
    REQUIRE(file >= 0);
    REQUIRE(pread(file, h, bytes, 0) == (ssize_t)bytes);
    uint32_t *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
    work<<<n / 256, 256>>>(d_in, d_out, n);
    CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
    REQUIRE(pwrite(file, h, bytes, 0) == (ssize_t)bytes);
    REQUIRE(close(file) == 0);
  }
  free(h);
  return 0;
}
