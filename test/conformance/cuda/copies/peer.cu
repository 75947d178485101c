// cudaMemcpyPeer on one device, and what is said of peers.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  std::vector<int> values(100);
  for (int i = 0; i < 100; ++i)
    values[i] = i;
  int *a = onDevice(values), *b = onDevice<int>(100);
  CHECK(cudaMemcpyPeer(b, 0, a, 0, 400));
  REQUIRE(fetch(b, 100) == values);
  CHECK(cudaMemset(b, 0, 400));
  CHECK(cudaMemcpyPeerAsync(b, 0, a, 0, 400, 0));
  REQUIRE(fetch(b, 100) == values);
  int can = 1;
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
  REQUIRE(can == 0);
  REFUSED(cudaErrorInvalidDevice, cudaMemcpyPeer(b, 0, a, 1000, 400));
  return 0;
}
