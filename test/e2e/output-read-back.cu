// The program reads its own output: through the same handle, through another while the first is open, and by the size
// that stat reports after a flush.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 12M readback
// RUN: for mode in same other stat descriptor child; do \
// RUN:   %plain ./program $mode in.bin out.bin || exit 1; \
// RUN:   %tight ./program $mode in.bin out.bin || exit 1; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
}

const int n = 3 << 20;
const size_t bytes = (size_t)n * 4;

int main(int, char **argv) {
  std::string mode = argv[1];
  std::vector<uint32_t> expected = slurp(argv[2]), got(n);
  for (uint32_t &word : expected)
    word = scramble(word);

  FILE *in = openFile(argv[2], "rb");
  FILE *out = openFile(argv[3], "w+b");
  uint32_t *h = (uint32_t *)malloc(bytes);
  REQUIRE(fread(h, 4, n, in) == n);
  fclose(in);
  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
  work<<<n / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(h, 4, n, out) == n);

  if (mode == "same") {
    rewind(out);
    REQUIRE(fread(got.data(), 4, n, out) == n);
    REQUIRE(got == expected);
  } else if (mode == "other") {
    REQUIRE(fflush(out) == 0);
    REQUIRE(slurp(argv[3]) == expected);
  } else if (mode == "stat") {
    REQUIRE(ftell(out) == (long)bytes);
    REQUIRE(fflush(out) == 0);
    struct stat info;
    REQUIRE(stat(argv[3], &info) == 0 && info.st_size == (off_t)bytes);
  } else if (mode == "descriptor") {
    REQUIRE(fflush(out) == 0);
    REQUIRE(pread(fileno(out), got.data(), bytes, 0) == (ssize_t)bytes);
    REQUIRE(got == expected);
  } else {
    REQUIRE(fflush(out) == 0);
    std::string command = std::string("cp ") + argv[3] + " copy.bin";
    REQUIRE(system(command.c_str()) == 0);
    REQUIRE(slurp("copy.bin") == expected);
  }
  REQUIRE(fclose(out) == 0);
  REQUIRE(slurp(argv[3]) == expected);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
  return 0;
}
