// Surfaces: reads and writes in one, two and three dimensions, what lies
// outside, and a texture over what was written.
// RUN: %conforms %s
#include "conformance.h"

const int W = 16, H = 8;

__global__ void write(cudaSurfaceObject_t surface) {
  int x = threadIdx.x, y = blockIdx.x;
  surf2Dwrite(make_float2(x, y), surface, x * (int)sizeof(float2), y);
}
__global__ void swap(cudaSurfaceObject_t surface) {
  int x = threadIdx.x, y = blockIdx.x;
  float2 v;
  surf2Dread(&v, surface, x * (int)sizeof(float2), y);
  surf2Dwrite(make_float2(v.y, v.x + 100), surface, x * (int)sizeof(float2), y);
  // Outside: nothing is written, zeros are read.
  surf2Dwrite(make_float2(-1, -1), surface, (W + x) * (int)sizeof(float2), y,
              cudaBoundaryModeZero);
}
__global__ void outside(cudaSurfaceObject_t surface, float *out) {
  out[0] = surf2Dread<float2>(surface, -8, 3, cudaBoundaryModeZero).x;
  out[1] = surf2Dread<float2>(surface, 9992, 3, cudaBoundaryModeClamp).y;
}
__global__ void volume(cudaSurfaceObject_t surface) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  surf3Dwrite(x + 10 * y + 100 * z, surface, x * 4, y, z);
}
__global__ void readTexture(cudaTextureObject_t texture, float2 *out) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * W + x] = tex2D<float2>(texture, x + 0.5f, y + 0.5f);
}

int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  write<<<H, W>>>(surface);
  swap<<<H, W>>>(surface);
  float *corner = onDevice<float>(2);
  outside<<<1, 1>>>(surface, corner);
  cudaTextureDesc d{};
  d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  float2 *out = onDevice<float2>(W * H);
  readTexture<<<H, W>>>(texture, out);
  auto h = fetch(out, W * H);
  for (int i = 0; i < W * H; ++i)
    REQUIRE(h[i].x == i / W && h[i].y == i % W + 100);
  auto c = fetch(corner, 2);
  REQUIRE(c[0] == 0 && c[1] == 115);

  cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  cudaArray_t box;
  CHECK(cudaMalloc3DArray(&box, &ints, make_cudaExtent(4, 4, 4),
                          cudaArraySurfaceLoadStore));
  resource.res.array.array = box;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  volume<<<1, dim3(4, 4, 4)>>>(surface);
  int values[64];
  cudaMemcpy3DParms p{};
  p.srcArray = box;
  p.dstPtr = make_cudaPitchedPtr(values, 16, 4, 4);
  p.extent = make_cudaExtent(4, 4, 4);
  p.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&p));
  for (int i = 0; i < 64; ++i)
    REQUIRE(values[i] == i % 4 + i / 4 % 4 * 10 + i / 16 * 100);
  return 0;
}
