// Texture formats: signed and unsigned integers of each width as elements and as
// normalised numbers, vectors, colours in sRGB stay aside.
// RUN: %conforms %s
#include "conformance.h"

__global__ void read(cudaTextureObject_t uchars, cudaTextureObject_t shorts,
                     cudaTextureObject_t uints, cudaTextureObject_t unorm,
                     cudaTextureObject_t snorm, float4 *out) {
  uchar4 a = tex2D<uchar4>(uchars, 1.5f, 0.5f);
  out[0] = make_float4(a.x, a.y, a.z, a.w);
  short2 b = tex2D<short2>(shorts, 1.5f, 0.5f);
  out[1] = make_float4(b.x, b.y, 0, 0);
  uint2 c = tex2D<uint2>(uints, 1.5f, 0.5f);
  out[2] = make_float4(c.x, c.y, 0, 0);
  out[3] = tex2D<float4>(unorm, 1.0f, 0.5f); // between two texels
  float2 e = tex2D<float2>(snorm, 1.5f, 0.5f);
  out[4] = make_float4(e.x, e.y, 0, 0);
}

template <typename T>
cudaTextureObject_t make(const std::vector<T> &texels, cudaTextureReadMode mode,
                         cudaTextureFilterMode filter) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, texels.size(), 1));
  size_t bytes = texels.size() * sizeof(T);
  CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), bytes, bytes, 1,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc d{};
  d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
  d.filterMode = filter;
  d.readMode = mode;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  return texture;
}

int main() {
  std::vector<uchar4> uchars{{1, 2, 3, 4}, {255, 128, 0, 7}};
  std::vector<short2> shorts{{1, 2}, {-32768, 32767}};
  std::vector<uint2> uints{{1, 2}, {4096, 65536}};
  float4 *out = onDevice<float4>(5);
  read<<<1, 1>>>(
      make(uchars, cudaReadModeElementType, cudaFilterModePoint),
      make(shorts, cudaReadModeElementType, cudaFilterModePoint),
      make(uints, cudaReadModeElementType, cudaFilterModePoint),
      make(uchars, cudaReadModeNormalizedFloat, cudaFilterModeLinear),
      make(shorts, cudaReadModeNormalizedFloat, cudaFilterModePoint), out);
  auto h = fetch(out, 5);
  REQUIRE(h[0].x == 255 && h[0].y == 128 && h[0].z == 0 && h[0].w == 7);
  REQUIRE(h[1].x == -32768 && h[1].y == 32767);
  REQUIRE(h[2].x == 4096 && h[2].y == 65536);
  REQUIRE(fabsf(h[3].x - 128 / 255.0f) < 0.003f &&
          fabsf(h[3].y - 65 / 255.0f) < 0.003f);
  REQUIRE(h[4].x == -1.0f && h[4].y == 1.0f);
  return 0;
}
