// Where what was read, and does not fit on the device, cannot be saved, there is no child: each call that makes one fails in
// its own way, and the program goes on with what it has read.
//
// REQUIRES: private-mount
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 8M full
// RUN: unshare -m sh -c 'mount -t tmpfs -o size=1m none swap && \
// RUN:   %plain DRAGON_DEVICE_MEMORY=4M DRAGON_CHUNK_SIZE=1M DRAGON_SWAP_DIR=swap ./program in.bin' 2>&1 | FileCheck %s
// CHECK: dragon: error: no child process: file '{{.*}}in.bin': {{.*}}No space left on device; set DRAGON_SWAP_DIR
// CHECK: right
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cerrno>
#include <spawn.h>
#include <unistd.h>

__global__ void work(uint32_t *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]);
}

// Apart: a function that calls vfork is left as it is by the compiler.
__attribute__((noinline)) static void tryAll() {
  errno = 0;
  REQUIRE(fork() == -1 && errno == ENOSPC);
  errno = 0;
  pid_t child = vfork();
  if (child == 0)
    _exit(1);
  REQUIRE(child == -1 && errno == ENOSPC);
  errno = 0;
  REQUIRE(!popen("true", "r") && errno == ENOSPC);
  errno = 0;
  REQUIRE(system("true") == -1 && errno == ENOSPC);
  char *arguments[] = {(char *)"true", nullptr};
  errno = 7;
  REQUIRE(posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) ==
          ENOSPC);
  REQUIRE(errno == 7);
}

int main(int, char **argv) {
  const int n = 2 << 20;
  FILE *in = openFile(argv[1], "rb");
  uint32_t *h = (uint32_t *)malloc(n * 4), *d;
  REQUIRE(fread(h, 4, n, in) == n);
  fclose(in);
  CHECK(cudaMalloc(&d, n * 4));
  CHECK(cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice));
  free(h);

  tryAll();

  work<<<n / 256, 256>>>(d, n);
  std::vector<uint32_t> got(n), words = slurp(argv[1]);
  CHECK(cudaMemcpy(got.data(), d, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    REQUIRE(got[i] == scramble(words[i]));
  fprintf(stderr, "right\n");
  return 0;
}
