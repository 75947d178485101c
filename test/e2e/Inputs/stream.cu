// stream IN OUT [BYTES]: OUT = scrambled IN, by fread, two buffers and fwrite.
// Says what failed, as a careful program does.
#include "e2e.h"

#include <cerrno>

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
}

int main(int argc, char **argv) {
  FILE *in = openFile(argv[1], "rb");
  FILE *out = openFile(argv[2], "wb");
  fseek(in, 0, SEEK_END);
  size_t bytes = argc > 3 ? strtoull(argv[3], nullptr, 10) : ftell(in);
  rewind(in);
  int n = (int)(bytes / 4);
  uint32_t *h = (uint32_t *)malloc(bytes);
  size_t got = fread(h, 4, n, in);
  if (got != (size_t)n) {
    fprintf(stderr, "stream: read %zu of %d words: %s\n", got, n,
            ferror(in) ? strerror(errno) : "end of file");
    return 3;
  }
  fclose(in);
  if (getenv("STREAM_SHRINK")) // a child shortens the file
    if (system(getenv("STREAM_SHRINK")) != 0)
      return 4;
  if (getenv("STREAM_PIPES")) { // somebody else does: says when, and waits
    FILE *ready = fopen("ready", "w");
    if (!ready || fputs("read\n", ready) < 0 || fclose(ready) != 0)
      return 4;
    FILE *done = fopen("done", "r");
    if (!done || fgetc(done) == EOF || fclose(done) != 0)
      return 4;
  }

  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
  work<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
  errno = 0;
  if (fwrite(h, 4, n, out) != (size_t)n) {
    fprintf(stderr, "stream: cannot write: %s\n", strerror(errno));
    return 5;
  }
  if (fclose(out) != 0) {
    fprintf(stderr, "stream: cannot close: %s\n", strerror(errno));
    return 6;
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
  printf("stream: %d words\n", n);
  return 0;
}
