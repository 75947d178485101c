// Textures of one and three dimensions, layers, cubes and mipmap levels.
// RUN: %conforms %s
#include "conformance.h"

__global__ void read1(cudaTextureObject_t texture, float *out) {
  out[threadIdx.x] = tex1D<float>(texture, threadIdx.x * 0.5f);
}
__global__ void read3(cudaTextureObject_t texture, float *out) {
  out[0] = tex3D<float>(texture, 1.5f, 2.5f, 1.5f);
  out[1] = tex3D<float>(texture, 2.0f, 2.5f, 1.5f);
  out[2] = tex3D<float>(texture, 1.5f, 2.5f, 2.0f);
  out[3] = tex3D<float>(texture, 100.f, -3.f, 0.f);
}
__global__ void readLayers(cudaTextureObject_t texture, float *out) {
  out[0] = tex2DLayered<float>(texture, 1.5f, 0.5f, 2);
  out[1] = tex2DLayered<float>(texture, 3.5f, 2.5f, 0);
  out[2] = tex2DLayered<float>(texture, 3.5f, 2.5f, 99);
}
__global__ void readCube(cudaTextureObject_t texture, float *out) {
  out[0] = texCubemap<float>(texture, 1, 0, 0);
  out[1] = texCubemap<float>(texture, -1, 0.1f, 0);
  out[2] = texCubemap<float>(texture, 0.1f, 2, 0.2f);
  out[3] = texCubemap<float>(texture, 0, -1, 0.5f);
  out[4] = texCubemap<float>(texture, 0.3f, 0, 1);
  out[5] = texCubemap<float>(texture, 0, 0, -1);
}
__global__ void readLevels(cudaTextureObject_t texture, float *out) {
  out[0] = tex2DLod<float>(texture, 0.5f, 0.5f, 0);
  out[1] = tex2DLod<float>(texture, 0.5f, 0.5f, 1);
}

cudaTextureObject_t over(cudaArray_t array, cudaTextureFilterMode filter,
                         bool normalized = false) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc d{};
  for (auto &mode : d.addressMode)
    mode = cudaAddressModeClamp;
  d.filterMode = filter;
  d.normalizedCoords = normalized;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  return texture;
}

cudaArray_t filled(cudaExtent size, unsigned flags, int w, int h, int d) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  std::vector<float> values(w * h * d);
  for (int i = 0; i < w * h * d; ++i)
    values[i] = i % w + i / w % h * 10 + i / w / h * 100;
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, size, flags));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(values.data(), w * 4, w, h);
  p.dstArray = array;
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  return array;
}

int main() {
  float *out = onDevice<float>(8);
  auto near = [](float a, float b) { return fabsf(a - b) < 0.5f; };
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t line;
  float values[4] = {10, 20, 30, 40};
  CHECK(cudaMallocArray(&line, &format, 4));
  CHECK(cudaMemcpy2DToArray(line, 0, 0, values, 16, 16, 1,
                            cudaMemcpyHostToDevice));
  read1<<<1, 8>>>(over(line, cudaFilterModeLinear), out);
  auto h = fetch(out, 8);
  REQUIRE(near(h[0], 10) && near(h[1], 10) && near(h[2], 15) &&
          near(h[3], 20) && near(h[6], 35));

  auto volume = filled(make_cudaExtent(4, 4, 4), 0, 4, 4, 4);
  read3<<<1, 1>>>(over(volume, cudaFilterModeLinear), out);
  h = fetch(out, 4);
  REQUIRE(near(h[0], 121) && near(h[1], 121.5f) && near(h[2], 171) &&
          near(h[3], 3));

  auto layers = filled(make_cudaExtent(4, 4, 3), cudaArrayLayered, 4, 4, 3);
  readLayers<<<1, 1>>>(over(layers, cudaFilterModePoint), out);
  h = fetch(out, 3);
  REQUIRE(h[0] == 201 && h[1] == 23 && h[2] == 223);

  auto cube = filled(make_cudaExtent(2, 2, 6), cudaArrayCubemap, 2, 2, 6);
  readCube<<<1, 1>>>(over(cube, cudaFilterModePoint, true), out);
  h = fetch(out, 6);
  for (int face = 0; face < 6; ++face)
    REQUIRE(int(h[face]) / 100 == face);

  cudaMipmappedArray_t levels;
  CHECK(
      cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(4, 4, 0), 2));
  for (int level = 0; level < 2; ++level) {
    cudaArray_t array;
    CHECK(cudaGetMipmappedArrayLevel(&array, levels, level));
    std::vector<float> constant(16, level + 1.0f);
    size_t row = level ? 8 : 16;
    CHECK(cudaMemcpy2DToArray(array, 0, 0, constant.data(), row, row,
                              level ? 2 : 4, cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = levels;
  cudaTextureDesc d{};
  d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
  d.filterMode = cudaFilterModePoint;
  d.mipmapFilterMode = cudaFilterModePoint;
  d.normalizedCoords = 1;
  d.maxMipmapLevelClamp = 1;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  readLevels<<<1, 1>>>(texture, out);
  h = fetch(out, 2);
  REQUIRE(h[0] == 1 && h[1] == 2);
  return 0;
}
