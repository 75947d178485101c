// Two-dimensional textures over arrays and over pitched memory: point and linear
// filtering, address modes, normalised coordinates.
// RUN: %conforms %s
#include "conformance.h"

__global__ void read(cudaTextureObject_t texture, const float2 *at,
                     float *out) {
  int i = threadIdx.x;
  out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

const int W = 8, H = 4;

cudaTextureObject_t make(const cudaResourceDesc &resource,
                         cudaTextureAddressMode address,
                         cudaTextureFilterMode filter, bool normalized) {
  cudaTextureDesc d{};
  d.addressMode[0] = d.addressMode[1] = address;
  d.filterMode = filter;
  d.readMode = cudaReadModeElementType;
  d.normalizedCoords = normalized;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &d, nullptr));
  return texture;
}

void expect(cudaTextureObject_t texture, const std::vector<float2> &at,
            const std::vector<float> &values) {
  float2 *where = onDevice(at);
  float *out = onDevice<float>(at.size());
  read<<<1, at.size()>>>(texture, where, out);
  auto h = fetch(out, at.size());
  for (size_t i = 0; i < at.size(); ++i)
    if (fabsf(h[i] - values[i]) > 0.02f) {
      fprintf(stderr, "at (%g, %g): %g, expected %g\n", at[i].x, at[i].y, h[i],
              values[i]);
      exit(EXIT_FAILURE);
    }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(where));
  CHECK(cudaFree(out));
}

int main() {
  std::vector<float> image(W * H);
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x)
      image[y * W + x] = 10 * y + x;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, W, H));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), W * 4, W * 4, H,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc ofArray{};
  ofArray.resType = cudaResourceTypeArray;
  ofArray.res.array.array = array;
  float *pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, W * 4, H));
  CHECK(cudaMemcpy2D(pitched, pitch, image.data(), W * 4, W * 4, H,
                     cudaMemcpyHostToDevice));
  cudaResourceDesc ofMemory{};
  ofMemory.resType = cudaResourceTypePitch2D;
  ofMemory.res.pitch2D.devPtr = pitched;
  ofMemory.res.pitch2D.desc = format;
  ofMemory.res.pitch2D.width = W;
  ofMemory.res.pitch2D.height = H;
  ofMemory.res.pitch2D.pitchInBytes = pitch;

  for (const cudaResourceDesc &resource : {ofArray, ofMemory}) {
    // Texel (i, j) covers [i, i+1) x [j, j+1).
    expect(make(resource, cudaAddressModeClamp, cudaFilterModePoint, false),
           {{0, 0}, {3.9f, 2.5f}, {-5, 1.5f}, {100, 3.2f}, {2.5f, -1}, {7, 9}},
           {0, 23, 10, 37, 2, 37});
    expect(make(resource, cudaAddressModeBorder, cudaFilterModePoint, false),
           {{0.5f, 0.5f}, {-0.5f, 1.5f}, {8.5f, 1.5f}, {3.5f, 3.5f}},
           {0, 0, 0, 33});
    // Linear: centres are exact, between them are the weights.
    expect(make(resource, cudaAddressModeClamp, cudaFilterModeLinear, false),
           {{2.5f, 1.5f}, {3.0f, 1.5f}, {2.5f, 2.0f}, {3.25f, 2.25f}, {0, 0}},
           {12, 12.5f, 17, 20.25f, 0});
    expect(make(resource, cudaAddressModeBorder, cudaFilterModeLinear, false),
           {{0, 1.5f}, {8, 3.5f}}, {5, 18.5f});
    // Normalised: [0, 1) is the texture; wrap and mirror go on beyond it.
    expect(make(resource, cudaAddressModeWrap, cudaFilterModePoint, true),
           {{0.5f, 0.5f}, {1.0625f, 0.125f}, {-0.0625f, 1.375f}}, {24, 0, 17});
    expect(make(resource, cudaAddressModeMirror, cudaFilterModePoint, true),
           {{1.0625f, 0.125f}, {-0.1875f, 0.125f}, {0.0625f, 1.125f}},
           {7, 1, 30});
    expect(make(resource, cudaAddressModeWrap, cudaFilterModeLinear, true),
           {{0, 0.125f}, {1, 0.125f}}, {3.5f, 3.5f});
    expect(make(resource, cudaAddressModeClamp, cudaFilterModePoint, true),
           {{1.5f, 0.999f}, {-1, 0}}, {37, 0});
    // Wrap needs normalised coordinates: otherwise it clamps.
    expect(make(resource, cudaAddressModeWrap, cudaFilterModePoint, false),
           {{9.5f, 0.5f}}, {7});
  }
  CHECK(cudaFreeArray(array));
  return 0;
}
