// cudaMemcpy2D: pitches on both sides, parts of rows, every direction, async.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  const size_t w = 60, h = 20, hostPitch = 64;
  std::vector<unsigned char> in(hostPitch * h), out(hostPitch * h, 0xee);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = i * 13 % 251;
  unsigned char *a, *b;
  size_t pa, pb;
  CHECK(cudaMallocPitch(&a, &pa, w, h));
  CHECK(cudaMallocPitch(&b, &pb, 2 * w, h));
  CHECK(
      cudaMemcpy2D(a, pa, in.data(), hostPitch, w, h, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(b + 5, pb, a, pa, w, h, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DAsync(out.data(), hostPitch, b + 5, pb, w, h,
                          cudaMemcpyDeviceToHost, 0));
  CHECK(cudaStreamSynchronize(0));
  for (size_t y = 0; y < h; ++y)
    for (size_t x = 0; x < hostPitch; ++x)
      REQUIRE(out[y * hostPitch + x] == (x < w ? in[y * hostPitch + x] : 0xee));
  REFUSED(cudaErrorInvalidPitchValue,
          cudaMemcpy2D(a, w - 1, in.data(), hostPitch, w, h,
                       cudaMemcpyHostToDevice));
  return 0;
}
