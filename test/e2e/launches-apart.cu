// Launches that follow one another and do not run together: slices of the second, which transposes, fetch everything over and over, so it runs
// in another way by itself.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: for how in auto off; do %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=512K DRAGON_WAVEFRONT=$how \
// RUN:   DRAGON_STATS=stats.json ./program && %ledger stats.json 'cpu: host_to_device < 250*M' || exit 1; done
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=512K DRAGON_WAVEFRONT=always ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

constexpr int Side = 2048, Rounds = 4;

__global__ void blur(float *out, const float *in, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (x + dx >= 0 && y + dy >= 0 && x + dx < side && y + dy < side)
        sum += in[size_t(y + dy) * side + x + dx];
  out[size_t(y) * side + x] = sum / 16;
}

__global__ void transpose(float *out, const float *in, int side) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    tile[j][threadIdx.x] = in[size_t(y + j) * side + x + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    out[size_t(x + j) * side + y + threadIdx.x] = tile[threadIdx.x][j];
}

int main(int argc, char **args) {
  const int rounds = argc > 1 ? atoi(args[1]) : Rounds;
  constexpr size_t N = size_t(Side) * Side;
  std::vector<float> image(N), other(N);
  for (size_t i = 0; i < N; ++i)
    image[i] = float(scramble(uint32_t(i)) % 256);
  float *a, *b;
  CHECK(cudaMalloc(&a, N * sizeof(float)));
  CHECK(cudaMalloc(&b, N * sizeof(float)));
  CHECK(cudaMemcpy(a, image.data(), N * sizeof(float), cudaMemcpyHostToDevice));
  for (int i = 0; i < rounds; ++i) {
    blur<<<dim3(Side / 32, Side / 8), dim3(32, 8)>>>(b, a, Side);
    transpose<<<dim3(Side / 32, Side / 32), dim3(32, 8)>>>(a, b, Side);
  }
  std::vector<float> result(N);
  CHECK(
      cudaMemcpy(result.data(), a, N * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < rounds; ++i) {
    for (int y = 0; y < Side; ++y)
      for (int x = 0; x < Side; ++x) {
        float sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (x + dx >= 0 && y + dy >= 0 && x + dx < Side && y + dy < Side)
              sum += image[size_t(y + dy) * Side + x + dx];
        other[size_t(x) * Side + y] = sum / 16;
      }
    image.swap(other);
  }
  REQUIRE(result == image);
  cudaFree(a);
  cudaFree(b);
}
