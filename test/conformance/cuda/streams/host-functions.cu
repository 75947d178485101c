// cudaLaunchHostFunc and cudaStreamAddCallback run in the stream's order.
// RUN: %conforms %s
#include "conformance.h"

__global__ void scale(int *data, int by) { *data *= by; }

static int *Pinned;
static int Seen[2];

int main() {
  CHECK(cudaMallocHost(&Pinned, sizeof(int)));
  *Pinned = 3;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int *d;
  CHECK(cudaMalloc(&d, sizeof(int)));
  CHECK(
      cudaMemcpyAsync(d, Pinned, sizeof(int), cudaMemcpyHostToDevice, stream));
  scale<<<1, 1, 0, stream>>>(d, 5);
  CHECK(
      cudaMemcpyAsync(Pinned, d, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(
      stream,
      [](void *data) {
        Seen[0] = *Pinned;
        *Pinned = *static_cast<int *>(data);
      },
      new int(11)));
  CHECK(
      cudaMemcpyAsync(d, Pinned, sizeof(int), cudaMemcpyHostToDevice, stream));
  scale<<<1, 1, 0, stream>>>(d, 2);
  CHECK(
      cudaMemcpyAsync(Pinned, d, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t status, void *) {
        Seen[1] = status == cudaSuccess ? *Pinned : -1;
      },
      nullptr, 0));
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(Seen[0] == 15 && Seen[1] == 22);
  return 0;
}
