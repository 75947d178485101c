// cudaPointerGetAttributes tells memory of each kind apart.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  int *device, *managed, *pinned, plain = 0;
  CHECK(cudaMalloc(&device, 400));
  CHECK(cudaMallocManaged(&managed, 400));
  CHECK(cudaMallocHost(&pinned, 400));
  cudaPointerAttributes a;
  CHECK(cudaPointerGetAttributes(&a, device + 10));
  REQUIRE(a.type == cudaMemoryTypeDevice && a.device == 0 &&
          a.devicePointer == device + 10);
  CHECK(cudaPointerGetAttributes(&a, managed));
  REQUIRE(a.type == cudaMemoryTypeManaged && a.hostPointer == managed);
  CHECK(cudaPointerGetAttributes(&a, pinned + 3));
  REQUIRE(a.type == cudaMemoryTypeHost && a.hostPointer == pinned + 3);
  CHECK(cudaPointerGetAttributes(&a, &plain));
  REQUIRE(a.type == cudaMemoryTypeUnregistered);
  return 0;
}
