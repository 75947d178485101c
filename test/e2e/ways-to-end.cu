// However a program ends, it ends: with its own exit code, its complete files, and nothing left in the swap directory.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program -lpthread && %bytes in.bin 20M ways && ./program expect in.bin expect.bin
// RUN: for mode in return no-free reset reset-and-again exit-thread quick main-thread atexit; do \
// RUN:   rm -f out.bin; \
// RUN:   %tight DRAGON_SWAP_DIR=swap timeout 300 ./program $mode in.bin out.bin; \
// RUN:   code=$?; test $code -eq 0 || { echo "$mode: exit code $code"; exit 1; }; \
// RUN:   cmp out.bin expect.bin && ls swap | count 0 || { echo "$mode: wrong"; exit 1; }; \
// RUN: done
// RUN: for mode in early-return early-exit early-exit-thread abandon; do \
// RUN:   %tight DRAGON_SWAP_DIR=swap timeout 300 ./program $mode in.bin out.bin; \
// RUN:   code=$?; test $code -eq 7 || { echo "$mode: exit code $code"; exit 1; }; \
// RUN:   ls swap | count 0 || exit 1; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <thread>
#include <unistd.h>

__global__ void work(uint32_t *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]);
}

const int n = 5 << 20;
const size_t bytes = (size_t)n * 4;
static uint32_t *H, *D;

static void start(const char *path) {
  FILE *in = openFile(path, "rb");
  H = (uint32_t *)malloc(bytes);
  REQUIRE(fread(H, 4, n, in) == n);
  fclose(in);
  CHECK(cudaMalloc(&D, bytes));
  CHECK(cudaMemcpy(D, H, bytes, cudaMemcpyHostToDevice));
  work<<<n / 256, 256>>>(D, n);
}

static void finish(FILE *out) {
  CHECK(cudaMemcpy(H, D, bytes, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(H, 4, n, out) == n);
}

int main(int, char **argv) {
  std::string mode = argv[1];
  if (mode == "expect") {
    std::vector<uint32_t> words = slurp(argv[2]);
    for (uint32_t &word : words)
      word = scramble(word);
    FILE *file = openFile(argv[3], "wb");
    fwrite(words.data(), 4, words.size(), file);
    fclose(file);
    return 0;
  }
  static FILE *out = openFile(argv[3], "wb");
  if (mode == "reset-and-again") {
    start(argv[2]);
    CHECK(cudaDeviceReset());
    free(H);
  }
  if (mode == "atexit") // registered before the first CUDA call
    atexit([] {
      if (fwrite(H, 4, n, out) != n || fclose(out) != 0)
        _exit(1);
    });
  start(argv[2]);

  if (mode == "early-return")
    return 7;
  if (mode == "early-exit")
    exit(7);
  if (mode == "early-exit-thread") {
    std::thread([] { exit(7); }).join();
  }
  if (mode == "abandon") {
    // Other threads are in the middle of things when the program ends.
    for (int i = 0; i < 3; ++i)
      std::thread([] {
        uint32_t *mine;
        if (cudaMalloc(&mine, bytes) == cudaSuccess)
          for (;;) {
            work<<<n / 256, 256>>>(mine, n);
            cudaMemset(mine, 1, bytes);
          }
      }).detach();
    CHECK(cudaDeviceSynchronize());
    exit(7);
  }
  if (mode == "atexit") {
    CHECK(cudaMemcpy(H, D, bytes, cudaMemcpyDeviceToHost));
    return 0;
  }

  finish(out);
  if (mode == "exit-thread") {
    // stdio's buffers are written by exit, whichever thread calls it.
    std::thread([] { exit(0); }).join();
  }
  if (mode == "main-thread") {
    std::thread([] {
      usleep(1000);
      exit(0);
    }).detach();
    pthread_exit(nullptr);
  }
  REQUIRE(fclose(out) == 0);
  if (mode == "no-free")
    return 0;
  if (mode == "reset") {
    CHECK(cudaDeviceReset());
    return 0;
  }
  if (mode == "quick")
    _exit(0);
  CHECK(cudaFree(D));
  return 0;
}
