// cudaMemcpy and cudaMemcpyAsync: every direction, parts, what is refused.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  const int n = 10000;
  std::vector<int> a(n), b(n, -1);
  for (int i = 0; i < n; ++i)
    a[i] = i * 7;
  int *d1, *d2;
  CHECK(cudaMalloc(&d1, n * sizeof(int)));
  CHECK(cudaMalloc(&d2, n * sizeof(int)));
  CHECK(cudaMemcpy(d1, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d2 + 100, d1, (n - 100) * sizeof(int),
                   cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(d2, d1 + (n - 100), 100 * sizeof(int), cudaMemcpyDefault));
  CHECK(cudaMemcpy(b.data(), d2, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    REQUIRE(b[i] == (i < 100 ? n - 100 + i : i - 100) * 7);
  std::vector<int> c(n);
  CHECK(cudaMemcpy(c.data(), a.data(), n * sizeof(int), cudaMemcpyHostToHost));
  REQUIRE(c == a);
  CHECK(cudaMemcpy(c.data(), b.data(), n * sizeof(int), cudaMemcpyDefault));
  REQUIRE(c == b);

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int *pinned;
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  memcpy(pinned, a.data(), n * sizeof(int));
  CHECK(cudaMemcpyAsync(d1, pinned, n * sizeof(int), cudaMemcpyHostToDevice,
                        stream));
  CHECK(cudaMemcpyAsync(d2, d1, n * sizeof(int), cudaMemcpyDeviceToDevice,
                        stream));
  CHECK(cudaMemcpyAsync(pinned, d2 + 1, (n - 1) * sizeof(int),
                        cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(pinned[0] == 7 && pinned[n - 2] == (n - 1) * 7);
  CHECK(cudaMemcpy(d1, a.data(), 0, cudaMemcpyHostToDevice));
  REFUSED(cudaErrorInvalidValue,
          cudaMemcpy(nullptr, a.data(), 4, cudaMemcpyHostToDevice));
  REFUSED(cudaErrorInvalidMemcpyDirection,
          cudaMemcpy(d1, a.data(), 4, (cudaMemcpyKind)77));
  return 0;
}
