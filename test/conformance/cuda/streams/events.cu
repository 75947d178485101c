// Events: recording, waiting across streams, queries, time between two.
// RUN: %conforms %s
#include "conformance.h"

__global__ void set(int *data, int value) { *data = value; }
__global__ void twice(const int *from, int *to) { *to = *from * 2; }

int main() {
  cudaStream_t a, b;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t start, stop, order;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
  CHECK(cudaEventCreateWithFlags(&order, cudaEventDisableTiming));
  CHECK(cudaEventQuery(start)); // nothing recorded: done
  int *x = onDevice<int>(1), *y = onDevice<int>(1);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(start, a));
  set<<<1, 1, 0, a>>>(x, 21);
  CHECK(cudaEventRecord(order, a));
  CHECK(cudaStreamWaitEvent(b, order, 0));
  twice<<<1, 1, 0, b>>>(x, y);
  CHECK(cudaEventRecord(stop, b));
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaEventQuery(stop));
  REQUIRE(fetch(y, 1)[0] == 42);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  REQUIRE(milliseconds >= 0);
  REFUSED(cudaErrorInvalidResourceHandle,
          cudaEventElapsedTime(&milliseconds, start, order));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(order));
  return 0;
}
