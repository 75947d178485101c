// The device data change between the copy out and the write of the staging buffer, and the staging buffer is used for
// several buffers in turn: the file must get what the copy saw.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 12M order
// RUN: for mode in launch memset free overwrite loop skip; do \
// RUN:   %plain ./program $mode in.bin plain.bin || exit 1; \
// RUN:   %tight ./program $mode in.bin tight.bin || exit 1; \
// RUN:   cmp plain.bin tight.bin && ./program check-$mode in.bin tight.bin || exit 1; \
// RUN:   echo $mode; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void work(uint32_t *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]);
}

const int n = 3 << 20;
const size_t bytes = (size_t)n * 4;

static int check(const std::string &mode, char **argv) {
  std::vector<uint32_t> words = slurp(argv[2]), all;
  if (mode == "loop") {
    for (int round = 0; round < 3; ++round) {
      for (uint32_t &word : words)
        word = scramble(word);
      all.insert(all.end(), words.begin(), words.end());
    }
  } else if (mode == "skip") {
    // The third million comes out first.
    for (int i = 0; i < n; ++i)
      all.push_back(scramble(words[(i + 2 * (n / 3)) % n]));
  } else {
    for (uint32_t word : words)
      all.push_back(scramble(word));
  }
  expectFile(argv[3], all);
  return 0;
}

int main(int, char **argv) {
  std::string mode = argv[1];
  if (mode.rfind("check-", 0) == 0)
    return check(mode.substr(6), argv);
  FILE *in = openFile(argv[2], "rb");
  FILE *out = openFile(argv[3], "wb");
  uint32_t *h = (uint32_t *)malloc(bytes);
  uint32_t *d;
  CHECK(cudaMalloc(&d, bytes));
  if (mode == "skip") {
    // In three pieces from the file, in another order to the file.
    for (int third = 0; third < 3; ++third) {
      REQUIRE(fread(h, 4, n / 3, in) == n / 3);
      CHECK(cudaMemcpy(d + (third + 1) % 3 * (n / 3), h, bytes / 3,
                       cudaMemcpyHostToDevice));
    }
  } else {
    REQUIRE(fread(h, 4, n, in) == n);
    CHECK(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
  }
  fclose(in);
  work<<<n / 256, 256>>>(d, n);
  if (mode == "loop") {
    for (int round = 0; round < 3; ++round) {
      CHECK(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost));
      work<<<n / 256, 256>>>(d, n);
      REQUIRE(fwrite(h, 4, n, out) == n);
    }
    REQUIRE(fclose(out) == 0);
    return 0;
  }
  CHECK(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost));
  if (mode == "launch")
    work<<<n / 256, 256>>>(d, n);
  if (mode == "memset")
    CHECK(cudaMemset(d, 0, bytes));
  if (mode == "free")
    CHECK(cudaFree(d));
  if (mode == "overwrite") {
    uint32_t *zeros = (uint32_t *)calloc(n, 4);
    CHECK(cudaMemcpy(d, zeros, bytes, cudaMemcpyHostToDevice));
    free(zeros);
  }
  REQUIRE(fwrite(h, 4, n, out) == n);
  REQUIRE(fclose(out) == 0);
  if (mode != "free")
    CHECK(cudaFree(d));
  free(h);
  return 0;
}
