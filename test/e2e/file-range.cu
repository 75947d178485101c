// A header that the host looks at, then a payload at an offset that no page boundary knows; only a part of the payload
// is used. The output has a header and a trailer of its own around the payload.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && ./program make in.bin
// RUN: sha256sum in.bin > in.sum
// RUN: %plain ./program run in.bin plain.bin && %tight ./program run in.bin tight.bin
// RUN: cmp plain.bin tight.bin && ./program check in.bin tight.bin && sha256sum --check --quiet in.sum
// RUN: rm -rf %t.dir
#include "e2e.h"

struct Header {
  char magic[6];
  uint16_t version;
  uint32_t skip;
  uint32_t count;
};

__global__ void work(const uint32_t *in, uint32_t *out, unsigned n,
                     uint32_t key) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i] ^ key);
}

const uint32_t Words = 5000003, Skip = 70001, Count = 4800011;

int main(int argc, char **argv) {
  std::string mode = argv[1];
  if (mode == "make") {
    FILE *file = openFile(argv[2], "wb");
    Header header = {{'D', 'A', 'T', 'A', '0', '1'}, 7, Skip, Count};
    fwrite(&header, sizeof header, 1, file);
    fputc('x', file); // now odd
    for (uint32_t i = 0; i < Words; ++i) {
      uint32_t word = scramble(i);
      fwrite(&word, 4, 1, file);
    }
    fclose(file);
    return 0;
  }
  if (mode == "check") {
    std::vector<uint32_t> words;
    for (uint32_t i = 0; i < Count; ++i)
      words.push_back(scramble(scramble(Skip + i) ^ 7));
    FILE *file = openFile(argv[3], "rb");
    char text[8] = "";
    REQUIRE(fread(text, 1, 7, file) == 7 && !strcmp(text, "RESULT:"));
    std::vector<uint32_t> got(Count);
    REQUIRE(fread(got.data(), 4, Count, file) == Count);
    REQUIRE(got == words);
    uint32_t count;
    REQUIRE(fread(&count, 4, 1, file) == 1 && count == Count);
    REQUIRE(fgetc(file) == EOF);
    return 0;
  }
  FILE *in = openFile(argv[2], "rb");
  FILE *out = openFile(argv[3], "wb");
  Header header;
  if (fread(&header, sizeof header, 1, in) != 1 ||
      memcmp(header.magic, "DATA01", 6) != 0) {
    fprintf(stderr, "%s: no header\n", argv[2]);
    return EXIT_FAILURE;
  }
  if (fgetc(in) != 'x')
    return EXIT_FAILURE;
  if (fseek(in, (long)header.skip * 4, SEEK_CUR) != 0)
    return EXIT_FAILURE;
  size_t n = header.count;
  uint32_t *h = (uint32_t *)malloc(n * sizeof *h);
  if (fread(h, sizeof *h, n, in) != n)
    return EXIT_FAILURE;
  fclose(in);

  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc((void **)&d_in, n * sizeof *h));
  CHECK(cudaMalloc((void **)&d_out, n * sizeof *h));
  CHECK(cudaMemcpy(d_in, h, n * sizeof *h, cudaMemcpyHostToDevice));
  work<<<(n + 255) / 256, 256>>>(d_in, d_out, n, header.version);
  CHECK(cudaMemcpy(h, d_out, n * sizeof *h, cudaMemcpyDeviceToHost));
  fputs("RESULT:", out);
  if (fwrite(h, sizeof *h, n, out) != n)
    return EXIT_FAILURE;
  REQUIRE(ftell(out) == 7 + (long)(n * 4));
  fwrite(&header.count, 4, 1, out);
  REQUIRE(fclose(out) == 0);
  cudaFree(d_in);
  cudaFree(d_out);
  free(h);
  return 0;
}
