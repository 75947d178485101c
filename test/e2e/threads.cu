// Four threads, each with its own files, buffers and stream, share the budgets.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -lpthread && for i in 0 1 2 3; do %bytes in.$i 8M thread$i || exit 1; done
// RUN: %plain ./program in plain && %roomy ./program in tight && ./program in tight check
// RUN: for i in 0 1 2 3; do cmp plain.$i tight.$i || exit 1; done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <thread>

__global__ void work(uint32_t *data, int n, uint32_t key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i] ^ key);
}

const int n = 8 << 18;
const size_t bytes = (size_t)n * 4;

static void run(int thread, std::string in, std::string out) {
  uint32_t *h = (uint32_t *)malloc(bytes);
  uint32_t *d;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  FILE *file = openFile(in.c_str(), "rb");
  REQUIRE(fread(h, 1, bytes, file) == bytes);
  fclose(file);
  for (uint32_t round = 0; round < 3; ++round) {
    CHECK(cudaMalloc(&d, bytes));
    CHECK(cudaMemcpyAsync(d, h, bytes, cudaMemcpyHostToDevice, stream));
    work<<<n / 256, 256, 0, stream>>>(d, n, thread * 10 + round);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(d));
  }
  file = openFile(out.c_str(), "wb");
  REQUIRE(fwrite(h, 1, bytes, file) == bytes);
  REQUIRE(fclose(file) == 0);
  CHECK(cudaStreamDestroy(stream));
  free(h);
}

int main(int argc, char **argv) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    std::string in = argv[1] + ("." + std::to_string(i)),
                out = argv[2] + ("." + std::to_string(i));
    if (argc == 4) {
      std::vector<uint32_t> words = slurp(in.c_str());
      for (uint32_t round = 0; round < 3; ++round)
        for (uint32_t &word : words)
          word = scramble(word ^ (i * 10 + round));
      expectFile(out.c_str(), words);
    } else {
      threads.emplace_back(run, i, in, out);
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  return 0;
}
