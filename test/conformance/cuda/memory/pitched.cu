// cudaMallocPitch and cudaMalloc3D: rows begin at aligned addresses, kernels and
// copies follow the pitch.
// RUN: %conforms %s
#include "conformance.h"

__global__ void fill(char *base, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height)
    ((float *)(base + y * pitch))[x] = y * 1000 + x;
}

__global__ void fillVolume(cudaPitchedPtr volume, int width, int depth) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  char *row = (char *)volume.ptr + (z * volume.ysize + y) * volume.pitch;
  if (x < width && z < depth)
    ((int *)row)[x] = z * 10000 + y * 100 + x;
}

int main() {
  const int width = 100, height = 33, depth = 5;
  char *base;
  size_t pitch;
  CHECK(cudaMallocPitch(&base, &pitch, width * sizeof(float), height));
  REQUIRE(pitch >= width * sizeof(float) && pitch % 32 == 0);
  fill<<<dim3(1, height), 128>>>(base, pitch, width, height);
  std::vector<float> h(width * height);
  CHECK(cudaMemcpy2D(h.data(), width * sizeof(float), base, pitch,
                     width * sizeof(float), height, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i)
    REQUIRE(h[i] == i / width * 1000 + i % width);

  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume,
                     make_cudaExtent(width * sizeof(int), height, depth)));
  REQUIRE(volume.pitch >= width * sizeof(int) && volume.ysize == height &&
          volume.xsize == width * sizeof(int));
  fillVolume<<<dim3(height, depth), 128>>>(volume, width, depth);
  std::vector<int> v(width * height * depth);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = volume;
  copy.dstPtr =
      make_cudaPitchedPtr(v.data(), width * sizeof(int), width, height);
  copy.extent = make_cudaExtent(width * sizeof(int), height, depth);
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (int z = 0, i = 0; z < depth; ++z)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x, ++i)
        REQUIRE(v[i] == z * 10000 + y * 100 + x);
  CHECK(cudaFree(base));
  CHECK(cudaFree(volume.ptr));
  return 0;
}
