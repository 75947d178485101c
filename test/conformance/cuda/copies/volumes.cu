// cudaMemcpy3D: positions and extents within pitched memory; peer form.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  const size_t w = 40, h = 12, d = 6;
  std::vector<unsigned char> in(w * h * d), out(w * h * d, 9);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = i * 31 % 253;
  cudaPitchedPtr a, b;
  CHECK(cudaMalloc3D(&a, make_cudaExtent(w, h, d)));
  CHECK(cudaMalloc3D(&b, make_cudaExtent(w, h, d)));
  CHECK(cudaMemset3D(b, 9, make_cudaExtent(w, h, d)));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(in.data(), w, w, h);
  p.dstPtr = a;
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  // A box from the middle, to another place.
  cudaMemcpy3DParms q{};
  q.srcPtr = a, q.srcPos = make_cudaPos(4, 3, 2);
  q.dstPtr = b, q.dstPos = make_cudaPos(8, 1, 1);
  q.extent = make_cudaExtent(10, 5, 3);
  q.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3DAsync(&q, 0));
  cudaMemcpy3DParms r{};
  r.srcPtr = b;
  r.dstPtr = make_cudaPitchedPtr(out.data(), w, w, h);
  r.extent = make_cudaExtent(w, h, d);
  r.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&r));
  for (size_t z = 0; z < d; ++z)
    for (size_t y = 0; y < h; ++y)
      for (size_t x = 0; x < w; ++x) {
        bool inside = x >= 8 && x < 18 && y >= 1 && y < 6 && z >= 1 && z < 4;
        unsigned char expected =
            inside ? in[((z + 1) * h + y + 2) * w + x - 4] : 9;
        REQUIRE(out[(z * h + y) * w + x] == expected);
      }
  return 0;
}
