// A network that is run again and again: each layer reads weights of its own,
// all in one buffer, and the activations of the layer before. As many rounds as
// are asked for, the time of each, and a hash of what came out, which is the
// same whatever memory there was. Plain CUDA.
//
//   layers LAYERS MIB ROUNDS WORK [EXPERTS USED]
//
// MIB of weights a layer, in four products; WORK steps of arithmetic for each
// 16 bytes of them: the time of a round in core. With EXPERTS, a layer has its
// weights for each of them, and a kernel chooses USED of them anew in each
// layer and round.
#include "../Check.h"

#include <chrono>
#include <cstdint>
#include <vector>

constexpr int Products = 4, Threads = 256;

__global__ void choose(int *ids, int experts, uint32_t seed) {
  // Different ones: an odd step through a power of two, or the next.
  const uint32_t first = (seed * 2654435761u >> 8) % experts;
  ids[threadIdx.x] = (first + threadIdx.x * (1 + seed % 2)) % experts;
}

__global__ void product(uint32_t *out, const uint32_t *in, const uint4 *weights,
                        const int *ids, size_t size, int work) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t expert = ids ? ids[blockIdx.y] : 0;
  const uint4 w = weights[expert * size + i];
  uint32_t x = in[blockIdx.x] + w.x, y = w.y;
  for (int k = 0; k < work; ++k) {
    x = x * 1664525u + w.z;
    y = (y ^ x) * 22695477u + w.w;
  }
  x ^= y;
  for (int lane = 16; lane > 0; lane /= 2)
    x += __shfl_xor_sync(0xffffffffu, x, lane);
  __shared__ uint32_t warps[Threads / 32];
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t sum = 0;
    for (uint32_t part : warps)
      sum = sum * 31 + part;
    out[blockIdx.y * gridDim.x + blockIdx.x] = sum;
  }
}

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Bytes a second from pinned memory to the device: the link's rate.
static double linkRate() {
  constexpr size_t Bytes = size_t(256) << 20;
  constexpr int Times = 8;
  void *host, *device;
  CHECK(cudaMallocHost(&host, Bytes));
  CHECK(cudaMalloc(&device, Bytes));
  CHECK(cudaMemcpy(device, host, Bytes, cudaMemcpyHostToDevice));
  const auto begin = Clock::now();
  for (int k = 0; k < Times; ++k)
    CHECK(cudaMemcpyAsync(device, host, Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
  const double rate = Times * double(Bytes) / secondsSince(begin);
  CHECK(cudaFree(device));
  CHECK(cudaFreeHost(host));
  return rate;
}

int main(int count, char **words) {
  if (count != 5 && count != 7) {
    fprintf(stderr, "usage: %s LAYERS MIB ROUNDS WORK [EXPERTS USED]\n",
            words[0]);
    return 2;
  }
  const int layers = atoi(words[1]), rounds = atoi(words[3]),
            work = atoi(words[4]);
  const int experts = count == 7 ? atoi(words[5]) : 1;
  const int used = count == 7 ? atoi(words[6]) : 1;
  const size_t layerBytes = size_t(atoi(words[2])) << 20;
  // Of one product and one expert.
  const size_t bytes = layerBytes / Products / experts /
                       (Threads * sizeof(uint4)) * (Threads * sizeof(uint4));
  const unsigned blocks = unsigned(bytes / sizeof(uint4) / Threads);
  if (layers < 1 || rounds < 1 || !blocks || used < 1 || used > experts) {
    fprintf(stderr, "error: too small\n");
    return 2;
  }
  printf("link %.1f\n", linkRate() / 1e9);

  const size_t all = bytes * experts * Products * layers;
  char *weights;
  uint32_t *from, *to;
  int *ids;
  CHECK(cudaMalloc(&weights, all));
  CHECK(cudaMalloc(&from, sizeof(uint32_t) * blocks * used));
  CHECK(cudaMalloc(&to, sizeof(uint32_t) * blocks * used));
  CHECK(cudaMalloc(&ids, sizeof(int) * used));
  CHECK(cudaMemset(from, 0, sizeof(uint32_t) * blocks * used));
  std::vector<uint32_t> tensor(bytes / sizeof(uint32_t));
  for (size_t k = 0; k < tensor.size(); ++k)
    tensor[k] = uint32_t(k * 2246822519u) ^ uint32_t(k >> 7);
  for (size_t at = 0; at < all; at += bytes) {
    tensor[0] = uint32_t(at / bytes);
    CHECK(
        cudaMemcpy(weights + at, tensor.data(), bytes, cudaMemcpyHostToDevice));
  }
  CHECK(cudaDeviceSynchronize());
  uint64_t hash = 14695981039346656037u;
  std::vector<uint32_t> result(size_t(blocks) * used);
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    for (int layer = 0; layer < layers; ++layer) {
      if (experts > 1)
        choose<<<1, used>>>(ids, experts, uint32_t(round * layers + layer));
      for (int p = 0; p < Products; ++p) {
        const char *own =
            weights + (size_t(layer) * Products + p) * experts * bytes;
        product<<<dim3(blocks, used), Threads>>>(
            to, from, reinterpret_cast<const uint4 *>(own),
            experts > 1 ? ids : nullptr, bytes / sizeof(uint4), work);
        std::swap(from, to);
      }
    }
    CHECK(cudaMemcpy(result.data(), from, result.size() * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
    const double seconds = secondsSince(begin);
    for (uint32_t word : result)
      hash = (hash ^ word) * 1099511628211u;
    printf("round %.6f\n", seconds);
  }
  printf("hash %016llx\n", static_cast<unsigned long long>(hash));
}
