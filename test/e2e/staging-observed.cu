// The host looks at the staging buffer, or changes it, between file and device: nothing of that may be lost.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 16M observed
// RUN: for mode in sum patch-before patch-after reuse alias partial library result-sum result-patch twice global; do \
// RUN:   %plain ./program $mode in.bin plain.bin > plain.txt || exit 1; \
// RUN:   %tight ./program $mode in.bin tight.bin > tight.txt || exit 1; \
// RUN:   cmp plain.bin tight.bin && cmp plain.txt tight.txt && ./program check-$mode in.bin tight.bin || exit 1; \
// RUN:   echo $mode; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
}

const int n = 4 << 20;
const size_t bytes = (size_t)n * 4;

static uint32_t sum(const uint32_t *h, size_t count) {
  uint32_t total = 0;
  for (size_t i = 0; i < count; ++i)
    total = total * 31 + h[i];
  return total;
}

struct Holder {
  uint32_t *data;
  size_t count;
};

uint32_t *Shared; // a staging buffer that other units could see

__attribute__((noinline)) static void increment(Holder *holder) {
  for (size_t i = 0; i < holder->count; i += 1000)
    holder->data[i] += 1;
}

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

// What the modes do, on the host alone.
static int check(const std::string &mode, char **argv) {
  std::vector<uint32_t> words = slurp(argv[2]);
  if (mode == "patch-before")
    for (int i = 0; i < n; i += 777)
      words[i] = i;
  if (mode == "alias")
    for (int i = 0; i < n; i += 1000)
      words[i] += 1;
  if (mode == "partial")
    memset(words.data() + n / 2, 0x11, 1 << 20);
  if (mode == "library")
    qsort(words.data(), 100000, 4, compare);
  for (uint32_t &word : words)
    word = scramble(word);
  if (mode == "twice")
    for (uint32_t &word : words)
      word = scramble(word);
  if (mode == "result-patch")
    for (int i = 0; i < n; i += 555)
      words[i] = ~words[i];
  expectFile(argv[3], words);
  return 0;
}

int main(int, char **argv) {
  std::string mode = argv[1];
  if (mode.rfind("check-", 0) == 0)
    return check(mode.substr(6), argv);

  FILE *in = openFile(argv[2], "rb");
  FILE *out = openFile(argv[3], "wb");
  uint32_t *h = (uint32_t *)malloc(bytes);
  if (mode == "global")
    Shared = h;
  REQUIRE(fread(h, 4, n, in) == n);

  if (mode == "sum")
    printf("%u\n", sum(h, n));
  if (mode == "patch-before")
    for (int i = 0; i < n; i += 777)
      h[i] = i;
  if (mode == "alias") {
    Holder holder = {h, n};
    increment(&holder);
  }
  if (mode == "partial")
    memset(h + n / 2, 0x11, 1 << 20);
  if (mode == "library")
    qsort(h, 100000, 4, compare);
  if (mode == "global")
    printf("%u\n", sum(Shared + 1000, 1000));

  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));

  if (mode == "patch-after") { // too late to matter
    for (int i = 0; i < n; ++i)
      h[i] = 0;
    printf("%u\n", sum(h, n));
  }
  if (mode == "reuse") { // the buffer now holds the beginning of the file again
    rewind(in);
    REQUIRE(fread(h, 4, n / 4, in) == n / 4);
    printf("%u\n", sum(h, n));
  }

  work<<<n / 256, 256>>>(d_in, d_out, n);
  if (mode == "twice") {
    CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
    work<<<n / 256, 256>>>(d_in, d_out, n);
  }
  CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
  if (mode == "result-sum")
    printf("%u %u\n", sum(h, n), h[n - 1]);
  if (mode == "result-patch")
    for (int i = 0; i < n; i += 555)
      h[i] = ~h[i];
  REQUIRE(fwrite(h, 4, n, out) == n);
  REQUIRE(fclose(out) == 0);
  fclose(in);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
  return 0;
}
