// A timer interrupts the program a thousand times a second, with a handler that does not restart system calls: reads,
// writes and waits go on where they were.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 24M interrupted
// RUN: %plain DRAGON_DIRECT_IO=off ./program in.bin plain.bin
// RUN: for setting in DRAGON_IO_URING=1 DRAGON_IO_URING=0 DRAGON_DIRECT_IO=off DRAGON_ELIDE=0; do \
// RUN:   %tight $setting ./program in.bin tight.bin && cmp plain.bin tight.bin || { echo "$setting"; exit 1; }; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <csignal>
#include <sys/time.h>

static volatile sig_atomic_t Ticks;

__global__ void work(uint32_t *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]);
}

int main(int, char **argv) {
  struct sigaction action = {};
  action.sa_handler = [](int) { Ticks = Ticks + 1; };
  REQUIRE(sigaction(SIGALRM, &action, nullptr) == 0);
  itimerval often = {{0, 1000}, {0, 1000}};
  REQUIRE(setitimer(ITIMER_REAL, &often, nullptr) == 0);

  const int n = 6 << 20;
  FILE *in = openFile(argv[1], "rb");
  FILE *out = openFile(argv[2], "wb");
  uint32_t *h = (uint32_t *)malloc((size_t)n * 4), *d;
  REQUIRE(fread(h, 4, n, in) == n);
  CHECK(cudaMalloc(&d, (size_t)n * 4));
  CHECK(cudaMemcpy(d, h, (size_t)n * 4, cudaMemcpyHostToDevice));
  for (int round = 0; round < 3; ++round)
    work<<<n / 256, 256>>>(d, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h, d, (size_t)n * 4, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(h, 4, n, out) == n);
  REQUIRE(fclose(out) == 0);
  fclose(in);
  CHECK(cudaFree(d));
  return 0;
}
