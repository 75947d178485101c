// Streams: creation, flags, priorities, order, the default streams.
// RUN: %conforms %s
#include "conformance.h"

__global__ void append(int *data, int digit) { *data = *data * 10 + digit; }

int main() {
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  REQUIRE(least >= greatest);
  cudaStream_t a, b, c;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithPriority(&c, cudaStreamNonBlocking, greatest));
  unsigned flags;
  int priority;
  CHECK(cudaStreamGetFlags(b, &flags));
  REQUIRE(flags == cudaStreamNonBlocking);
  CHECK(cudaStreamGetPriority(c, &priority));
  REQUIRE(priority == greatest);
  unsigned long long ia, ib;
  CHECK(cudaStreamGetId(a, &ia));
  CHECK(cudaStreamGetId(b, &ib));
  REQUIRE(ia != ib);
  int *data = onDevice<int>(1);
  for (int digit = 1; digit < 5; ++digit)
    append<<<1, 1, 0, a>>>(data, digit);
  CHECK(cudaStreamSynchronize(a));
  CHECK(cudaStreamQuery(a));
  // The legacy default stream waits for blocking ones, and they for it.
  append<<<1, 1, 0, a>>>(data, 5);
  append<<<1, 1>>>(data, 6);
  append<<<1, 1, 0, a>>>(data, 7);
  CHECK(cudaDeviceSynchronize());
  REQUIRE(fetch(data, 1)[0] == 1234567);
  append<<<1, 1, 0, cudaStreamPerThread>>>(data, 8);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  append<<<1, 1, 0, cudaStreamLegacy>>>(data, 9);
  CHECK(cudaStreamSynchronize(cudaStreamLegacy));
  REQUIRE(fetch(data, 1)[0] == 123456789);
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
  CHECK(cudaStreamDestroy(c));
  return 0;
}
