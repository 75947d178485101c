// Asynchronous copies out of pinned memory and launches on several streams that wait for each other's events.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 24M streams
// RUN: %plain ./program in.bin plain.bin && %tight ./program in.bin tight.bin
// RUN: cmp plain.bin tight.bin && ./program in.bin tight.bin check
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void first(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
}

__global__ void second(uint32_t *data, const uint32_t *other, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i] + other[n - 1 - i]);
}

const int Streams = 4;
const int Part = 6 << 18; // words
const size_t PartBytes = (size_t)Part * 4;

int main(int argc, char **argv) {
  if (argc == 4) {
    std::vector<uint32_t> words = slurp(argv[1]), once = words;
    for (uint32_t &word : once)
      word = scramble(word);
    // Stream s uses what stream s - 1 made; stream 0 uses its own input.
    std::vector<uint32_t> result(words.size());
    for (int s = 0; s < Streams; ++s)
      for (int i = 0; i < Part; ++i)
        result[s * Part + i] =
            scramble(once[s * Part + i] +
                     (s == 0 ? words[Part - 1 - i]
                             : result[(s - 1) * Part + Part - 1 - i]));
    expectFile(argv[2], result);
    return 0;
  }
  uint32_t *h;
  CHECK(cudaMallocHost((void **)&h, Streams * PartBytes));
  FILE *in = openFile(argv[1], "rb");
  REQUIRE(fread(h, PartBytes, Streams, in) == Streams);
  fclose(in);

  cudaStream_t streams[Streams];
  cudaEvent_t done[Streams], start, stop;
  uint32_t *d_in[Streams], *d_out[Streams];
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, 0));
  for (int s = 0; s < Streams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    CHECK(cudaMalloc(&d_in[s], PartBytes));
    CHECK(cudaMalloc(&d_out[s], PartBytes));
    CHECK(cudaMemcpyAsync(d_in[s], h + s * Part, PartBytes,
                          cudaMemcpyHostToDevice, streams[s]));
    first<<<Part / 256, 256, 0, streams[s]>>>(d_in[s], d_out[s], Part);
  }
  for (int s = 0; s < Streams; ++s) {
    if (s > 0)
      CHECK(cudaStreamWaitEvent(streams[s], done[s - 1], 0));
    second<<<Part / 256, 256, 0, streams[s]>>>(
        d_out[s], s > 0 ? d_out[s - 1] : d_in[0], Part);
    CHECK(cudaEventRecord(done[s], streams[s]));
  }
  for (int s = 0; s < Streams; ++s)
    CHECK(cudaMemcpyAsync(h + s * Part, d_out[s], PartBytes,
                          cudaMemcpyDeviceToHost, streams[s]));
  for (int s = 0; s < Streams; ++s)
    CHECK(cudaStreamSynchronize(streams[s]));
  CHECK(cudaEventRecord(stop, 0));
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaEventQuery(stop));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  REQUIRE(milliseconds >= 0);

  FILE *out = openFile(argv[2], "wb");
  REQUIRE(fwrite(h, PartBytes, Streams, out) == Streams);
  REQUIRE(fclose(out) == 0);
  for (int s = 0; s < Streams; ++s) {
    CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaEventDestroy(done[s]));
    CHECK(cudaFree(d_in[s]));
    CHECK(cudaFree(d_out[s]));
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFreeHost(h));
  return 0;
}
