// A file that is read and written in pieces: into one large staging buffer that is copied at once, and through a small
// one that is copied piece by piece. Pieces are of no round size and the last one is shorter.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 25000004 pieces
// RUN: %plain ./program whole in.bin plain.bin && %tight ./program whole in.bin whole.bin
// RUN: cmp plain.bin whole.bin
// RUN: %plain ./program small in.bin plain.small.bin && cmp plain.bin plain.small.bin
// RUN: %tight ./program small in.bin small.bin && cmp plain.bin small.bin
// RUN: ./program check in.bin small.bin
// RUN: rm -rf %t.dir
#include "e2e.h"
#include <algorithm>

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
}

static void whole(FILE *in, FILE *out, size_t n) {
  const size_t piece = 300007;
  uint32_t *h = (uint32_t *)malloc(n * 4);
  size_t done = 0;
  while (done < n) {
    size_t now = std::min(piece, n - done);
    size_t got = fread(h + done, 4, now, in);
    if (got == 0)
      exit(EXIT_FAILURE);
    done += got;
  }
  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * 4));
  CHECK(cudaMalloc(&d_out, n * 4));
  CHECK(cudaMemcpy(d_in, h, n * 4, cudaMemcpyHostToDevice));
  work<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(h, d_out, n * 4, cudaMemcpyDeviceToHost));
  for (size_t first = 0; first < n; first += piece) {
    size_t now = std::min(piece, n - first);
    if (fwrite(h + first, 4, now, out) != now)
      exit(EXIT_FAILURE);
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
}

static void small(FILE *in, FILE *out, size_t n) {
  const size_t piece = 300007;
  uint32_t *h = (uint32_t *)malloc(piece * 4);
  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * 4));
  CHECK(cudaMalloc(&d_out, n * 4));
  for (size_t first = 0; first < n; first += piece) {
    size_t now = std::min(piece, n - first);
    if (fread(h, 4, now, in) != now)
      exit(EXIT_FAILURE);
    CHECK(cudaMemcpy(d_in + first, h, now * 4, cudaMemcpyHostToDevice));
  }
  work<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
  for (size_t first = 0; first < n; first += piece) {
    size_t now = std::min(piece, n - first);
    CHECK(cudaMemcpy(h, d_out + first, now * 4, cudaMemcpyDeviceToHost));
    if (fwrite(h, 4, now, out) != now)
      exit(EXIT_FAILURE);
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
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
  FILE *in = openFile(argv[2], "rb");
  FILE *out = openFile(argv[3], "wb");
  fseek(in, 0, SEEK_END);
  size_t n = ftell(in) / 4;
  rewind(in);
  if (mode == "whole")
    whole(in, out, n);
  else
    small(in, out, n);
  fclose(in);
  REQUIRE(fclose(out) == 0);
  return 0;
}
