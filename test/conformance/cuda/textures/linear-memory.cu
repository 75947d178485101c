// Textures over linear memory: tex1Dfetch of several formats, normalised reads.
// RUN: %conforms %s
#include "conformance.h"

__global__ void read(cudaTextureObject_t ints, cudaTextureObject_t vectors,
                     cudaTextureObject_t bytes, float *out) {
  int i = threadIdx.x;
  float4 v = tex1Dfetch<float4>(vectors, i);
  out[3 * i] = tex1Dfetch<int>(ints, i);
  out[3 * i + 1] = v.x + v.y * 10 + v.z * 100 + v.w * 1000;
  out[3 * i + 2] = tex1Dfetch<float>(bytes, i);
}

template <typename T>
cudaTextureObject_t over(const T *memory, size_t count,
                         cudaTextureReadMode mode) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<T *>(memory);
  resource.res.linear.desc = cudaCreateChannelDesc<T>();
  resource.res.linear.sizeInBytes = count * sizeof(T);
  cudaTextureDesc description{};
  description.readMode = mode;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

int main() {
  const int n = 64;
  std::vector<int> ints(n);
  std::vector<float4> vectors(n);
  std::vector<unsigned char> bytes(n);
  for (int i = 0; i < n; ++i) {
    ints[i] = -i;
    vectors[i] = make_float4(i, i + 1, i + 2, i + 3);
    bytes[i] = 4 * i;
  }
  auto a = over(onDevice(ints), n, cudaReadModeElementType);
  auto b = over(onDevice(vectors), n, cudaReadModeElementType);
  auto c = over(onDevice(bytes), n, cudaReadModeNormalizedFloat);
  float *out = onDevice<float>(3 * n);
  read<<<1, n>>>(a, b, c, out);
  auto h = fetch(out, 3 * n);
  for (int i = 0; i < n; ++i) {
    REQUIRE(h[3 * i] == -i);
    REQUIRE(h[3 * i + 1] == i + (i + 1) * 10 + (i + 2) * 100 + (i + 3) * 1000);
    REQUIRE(fabsf(h[3 * i + 2] - 4 * i / 255.0f) < 1e-6f);
  }
  CHECK(cudaDestroyTextureObject(a));
  CHECK(cudaDestroyTextureObject(b));
  CHECK(cudaDestroyTextureObject(c));
  return 0;
}
