// CUDA arrays: allocation, description, copies to, from and between them.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  const size_t w = 32, h = 8;
  std::vector<float> in(w * h), out(w * h);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = i * 0.5f;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  REQUIRE(format.x == 32 && format.f == cudaChannelFormatKindFloat);
  cudaArray_t a, b;
  CHECK(cudaMallocArray(&a, &format, w, h));
  CHECK(cudaMallocArray(&b, &format, w, h));
  cudaChannelFormatDesc got;
  cudaExtent extent;
  unsigned flags;
  CHECK(cudaArrayGetInfo(&got, &extent, &flags, a));
  REQUIRE(got.x == 32 && extent.width == w && extent.height == h &&
          extent.depth == 0);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), w * 4, w * 4, h,
                            cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, w * 4, h,
                                 cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DFromArray(out.data(), w * 4, b, 0, 0, w * 4, h,
                              cudaMemcpyDeviceToHost));
  REQUIRE(in == out);
  float part[6];
  CHECK(cudaMemcpy2DFromArray(part, 12, a, 5 * 4, 2, 12, 2,
                              cudaMemcpyDeviceToHost));
  REQUIRE(part[0] == in[2 * w + 5] && part[5] == in[3 * w + 7]);
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));

  cudaArray_t volume;
  cudaExtent size = make_cudaExtent(8, 4, 3);
  CHECK(cudaMalloc3DArray(&volume, &format, size));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(in.data(), 8 * 4, 8, 4);
  p.dstArray = volume;
  p.extent = size; // in elements: an array takes part
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q{};
  q.srcArray = volume, q.srcPos = make_cudaPos(0, 1, 1);
  q.dstPtr = make_cudaPitchedPtr(out.data(), 8 * 4, 8, 2);
  q.extent = make_cudaExtent(8, 2, 2);
  q.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&q));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 8; ++x)
        REQUIRE(out[(z * 2 + y) * 8 + x] == in[((z + 1) * 4 + y + 1) * 8 + x]);
  CHECK(cudaFreeArray(volume));
  return 0;
}
