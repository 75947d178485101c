// The program itself changes its input file between reading it and running the kernel: by another handle, by
// truncating, renaming over or removing it. What was read is what the kernel must see.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 20M changes && %bytes other.bin 1M other
// RUN: ./program expect in.bin expect.bin
// RUN: for mode in none overwrite append truncate ftruncate remove rename pwrite dup mmap; do \
// RUN:   cp in.bin work.bin && %plain ./program $mode work.bin out.bin && cmp out.bin expect.bin || exit 1; \
// RUN:   cp in.bin work.bin && %tight ./program $mode work.bin out.bin && cmp out.bin expect.bin || exit 1; \
// RUN:   echo $mode; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]) + i;
}

const int n = 5 << 20;
const size_t bytes = (size_t)n * 4;

static void change(const std::string &mode, const char *path) {
  const char junk[] = "these bytes must not reach the kernel";
  if (mode == "overwrite") {
    FILE *file = openFile(path, "r+b");
    for (size_t at = 0; at < bytes; at += 65536) {
      fseek(file, at, SEEK_SET);
      fwrite(junk, 1, sizeof junk, file);
    }
    fclose(file);
  } else if (mode == "append") {
    FILE *file = openFile(path, "ab");
    fwrite(junk, 1, sizeof junk, file);
    fclose(file);
  } else if (mode == "truncate") {
    REQUIRE(truncate(path, 4096) == 0);
  } else if (mode == "ftruncate") {
    int file = open(path, O_RDWR);
    REQUIRE(file >= 0 && ftruncate(file, 0) == 0);
    close(file);
  } else if (mode == "remove") {
    REQUIRE(unlink(path) == 0);
  } else if (mode == "rename") {
    REQUIRE(rename("other.copy", path) == 0);
  } else if (mode == "pwrite") {
    int file = open(path, O_WRONLY);
    REQUIRE(file >= 0);
    for (size_t at = 1000; at < bytes; at += 65536)
      REQUIRE(pwrite(file, junk, sizeof junk, at) == sizeof junk);
    close(file);
  } else if (mode == "dup") {
    int file = open(path, O_RDWR);
    int twin = dup(file);
    close(file);
    REQUIRE(write(twin, junk, sizeof junk) == sizeof junk);
    close(twin);
  } else if (mode == "mmap") {
    int file = open(path, O_RDWR);
    void *map =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(map != MAP_FAILED);
    for (size_t at = 8000; at < bytes; at += 65536)
      memcpy((char *)map + at, junk, sizeof junk);
    munmap(map, bytes);
    close(file);
  }
}

int main(int, char **argv) {
  std::string mode = argv[1];
  if (mode == "expect") {
    std::vector<uint32_t> words = slurp(argv[2]);
    FILE *file = openFile(argv[3], "wb");
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = scramble(words[i]) + i;
    fwrite(words.data(), 4, words.size(), file);
    fclose(file);
    return 0;
  }
  if (mode == "rename") {
    std::vector<uint32_t> words(1000, 7);
    FILE *other = openFile("other.copy", "wb");
    fwrite(words.data(), 4, words.size(), other);
    fclose(other);
  }
  FILE *in = openFile(argv[2], "rb");
  uint32_t *h = (uint32_t *)malloc(bytes);
  REQUIRE(fread(h, 4, n, in) == n);
  fclose(in);
  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));

  change(mode, argv[2]);

  work<<<n / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
  FILE *out = openFile(argv[3], "wb");
  REQUIRE(fwrite(h, 4, n, out) == n);
  REQUIRE(fclose(out) == 0);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
  return 0;
}
