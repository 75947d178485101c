// The driver goes by the addresses of a copy, not by the direction that it is given: pinned memory may be the source of a copy
// "from the device" and the target of one "to the device". What was elided in it is there when such a copy reads it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %bytes in.bin 6M directions
// RUN: %build %s -o program && %plain ./program in.bin && %tight ./program in.bin
// RUN: %build -fdragon-trace-accesses %s -o program && %tight DRAGON_CHECK=1 ./program in.bin
// RUN: rm -rf %t.dir
#include "e2e.h"

constexpr int N = 3 << 19; // 6 MiB
constexpr size_t Bytes = N * sizeof(uint32_t);

__global__ void scrambled(const uint32_t *in, uint32_t *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = scramble(in[i]);
}

static uint32_t *pinned() {
  uint32_t *h;
  CHECK(cudaMallocHost(&h, Bytes));
  return h;
}

static void readInto(uint32_t *h, const char *path) {
  FILE *in = fopen(path, "rb");
  REQUIRE(in && fread(h, 4, N, in) == N);
  fclose(in);
}

static uint32_t *allocated() {
  uint32_t *d;
  CHECK(cudaMalloc(&d, Bytes));
  return d;
}

/// Read from a file, copied to the device, and "from the device" from there.
static void fromStaging(const char *path, const std::vector<uint32_t> &file) {
  uint32_t *h = pinned(), *d = allocated();
  std::vector<uint32_t> part(N / 2);
  readInto(h, path);
  CHECK(cudaMemcpy(d, h, Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyAsync(part.data(), h + N / 4, part.size() * 4,
                        cudaMemcpyDeviceToHost, 0));
  CHECK(cudaStreamSynchronize(0));
  for (int i = 0; i < N / 2; ++i)
    REQUIRE(part[i] == file[i + N / 4]);
  CHECK(cudaFree(d));
  CHECK(cudaFreeHost(h));
}

/// "To the device", between the read of a file and the copy of its contents.
static void toStaging(const char *path, const std::vector<uint32_t> &file) {
  uint32_t *h = pinned(), *d = allocated(), *d_out = allocated();
  const std::vector<uint32_t> other(N / 2, 5);
  readInto(h, path);
  CHECK(cudaMemcpy(h + N / 4, other.data(), other.size() * 4,
                   cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d, h, Bytes, cudaMemcpyHostToDevice));
  scrambled<<<N / 256, 256>>>(d, d_out);
  std::vector<uint32_t> out(N);
  CHECK(cudaMemcpy(out.data(), d_out, Bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i)
    REQUIRE(out[i] == scramble(i >= N / 4 && i < N / 4 + N / 2 ? 5 : file[i]));
  CHECK(cudaFree(d));
  CHECK(cudaFree(d_out));
  CHECK(cudaFreeHost(h));
}

/// Results that were copied to the host, and "from the device" from there.
static void fromResults(const char *path, const std::vector<uint32_t> &file) {
  uint32_t *h = pinned(), *d = allocated(), *d_out = allocated();
  std::vector<uint32_t> out(N);
  readInto(h, path);
  CHECK(cudaMemcpy(d, h, Bytes, cudaMemcpyHostToDevice));
  scrambled<<<N / 256, 256>>>(d, d_out);
  CHECK(cudaMemcpy(h, d_out, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out.data(), h, Bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i)
    REQUIRE(out[i] == scramble(file[i]));
  CHECK(cudaFree(d));
  CHECK(cudaFree(d_out));
  CHECK(cudaFreeHost(h));
}

/// Between buffers of the device, as "to the device".
static void betweenBuffers(const char *path,
                           const std::vector<uint32_t> &file) {
  uint32_t *h = pinned(), *d = allocated(), *d_other = allocated();
  readInto(h, path);
  CHECK(cudaMemcpy(d, h, Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_other, d, Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaFree(d));
  std::vector<uint32_t> out(N);
  CHECK(cudaMemcpy(out.data(), d_other, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(out == file);
  CHECK(cudaFree(d_other));
  CHECK(cudaFreeHost(h));
}

int main(int, char **argv) {
  const std::vector<uint32_t> file = slurp(argv[1]);
  REQUIRE(file.size() == N);
  fromStaging(argv[1], file);
  toStaging(argv[1], file);
  fromResults(argv[1], file);
  betweenBuffers(argv[1], file);
}
