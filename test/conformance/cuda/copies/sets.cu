// cudaMemset in one, two and three dimensions, plain and async.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  unsigned char *line = onDevice<unsigned char>(1000);
  CHECK(cudaMemset(line + 3, 0x1a5, 500)); // the low byte counts
  CHECK(cudaMemsetAsync(line + 600, 7, 100, 0));
  auto h = fetch(line, 1000);
  for (int i = 0; i < 1000; ++i)
    REQUIRE(h[i] == (i >= 3 && i < 503 ? 0xa5 : i >= 600 && i < 700 ? 7 : 0));

  unsigned char *plane;
  size_t pitch;
  CHECK(cudaMallocPitch(&plane, &pitch, 50, 10));
  CHECK(cudaMemset2D(plane, pitch, 1, 50, 10));
  CHECK(cudaMemset2DAsync(plane + 2 * pitch + 5, pitch, 2, 20, 4, 0));
  h = fetch(plane, pitch * 9 + 50);
  for (size_t y = 0; y < 10; ++y)
    for (size_t x = 0; x < 50; ++x)
      REQUIRE(h[y * pitch + x] ==
              (y >= 2 && y < 6 && x >= 5 && x < 25 ? 2 : 1));

  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, make_cudaExtent(30, 8, 4)));
  CHECK(cudaMemset3D(volume, 3, make_cudaExtent(30, 8, 4)));
  CHECK(cudaMemset3DAsync(volume, 4, make_cudaExtent(10, 2, 2), 0));
  h = fetch((unsigned char *)volume.ptr, volume.pitch * 31 + 30);
  for (size_t z = 0; z < 4; ++z)
    for (size_t y = 0; y < 8; ++y)
      for (size_t x = 0; x < 30; ++x)
        REQUIRE(h[(z * 8 + y) * volume.pitch + x] ==
                (x < 10 && y < 2 && z < 2 ? 4 : 3));
  return 0;
}
