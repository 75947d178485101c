// Files read and written by descriptors: read and write in a loop that expects short transfers, and pread and pwrite,
// the latter into the middle of a file that exists.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 20M posix
// RUN: %plain ./program stream in.bin plain.bin && %tight ./program stream in.bin tight.bin
// RUN: cmp plain.bin tight.bin && ./program check in.bin tight.bin
// RUN: %bytes old.bin 24M old && cp old.bin plain.bin && cp old.bin tight.bin
// RUN: %plain ./program place in.bin plain.bin && %tight ./program place in.bin tight.bin
// RUN: cmp plain.bin tight.bin
//   What lay before and behind the written range is as before:
// RUN: cmp -n 1000001 old.bin tight.bin
// RUN: cmp -i 21971521 old.bin tight.bin
// RUN: dd if=tight.bin of=middle.bin bs=1M iflag=skip_bytes,count_bytes skip=1000001 count=20971520 status=none
// RUN: ./program check in.bin middle.bin
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

__global__ void work(uint32_t *data, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]);
}

int main(int argc, char **argv) {
  std::string mode = argv[1];
  if (mode == "check") {
    std::vector<uint32_t> words = slurp(argv[2]);
    for (uint32_t &word : words)
      word = scramble(word);
    expectFile(argv[3], words);
    return 0;
  }
  bool place = mode == "place";
  int in = open(argv[2], O_RDONLY);
  int out = place ? open(argv[3], O_WRONLY)
                  : open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  REQUIRE(in >= 0 && out >= 0);
  struct stat info;
  REQUIRE(fstat(in, &info) == 0);
  size_t bytes = info.st_size;

  char *h = (char *)malloc(bytes);
  if (place) {
    REQUIRE(pread(in, h, bytes, 0) == (ssize_t)bytes);
  } else {
    size_t done = 0;
    while (done < bytes) {
      ssize_t got = read(in, h + done, bytes - done);
      if (got <= 0) {
        perror("read");
        return EXIT_FAILURE;
      }
      done += got;
    }
  }
  close(in);

  uint32_t *d;
  CHECK(cudaMalloc((void **)&d, bytes));
  CHECK(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
  work<<<(bytes / 4 + 127) / 128, 128>>>(d, bytes / 4);
  CHECK(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost));

  if (place) {
    REQUIRE(pwrite(out, h, bytes, 1000001) == (ssize_t)bytes);
  } else {
    size_t done = 0;
    while (done < bytes) {
      ssize_t put = write(out, h + done, bytes - done);
      if (put <= 0) {
        perror("write");
        return EXIT_FAILURE;
      }
      done += put;
    }
  }
  REQUIRE(close(out) == 0);
  CHECK(cudaFree(d));
  free(h);
  return 0;
}
