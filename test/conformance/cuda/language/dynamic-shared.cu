// Dynamic shared memory beside static, of several types, its size at launch.
// RUN: %conforms %s
#include "conformance.h"

__global__ void reverse(int *data) {
  extern __shared__ int buffer[];
  __shared__ int fixed[4];
  int t = threadIdx.x, n = blockDim.x;
  buffer[t] = data[blockIdx.x * n + t];
  if (t < 4)
    fixed[t] = t * 1000;
  __syncthreads();
  data[blockIdx.x * n + t] = buffer[n - 1 - t] + fixed[t % 4];
}

template <typename T> __global__ void typed(T *out) {
  extern __shared__ __align__(16) unsigned char raw[];
  T *mine = reinterpret_cast<T *>(raw);
  mine[threadIdx.x] = T(threadIdx.x) / 2;
  __syncthreads();
  out[threadIdx.x] = mine[(threadIdx.x + 1) % blockDim.x];
}

int main() {
  std::vector<int> in(512);
  for (int i = 0; i < 512; ++i)
    in[i] = i;
  int *data = onDevice(in);
  reverse<<<4, 128, 128 * sizeof(int)>>>(data);
  auto h = fetch(data, 512);
  for (int i = 0; i < 512; ++i)
    REQUIRE(h[i] == i / 128 * 128 + 127 - i % 128 + i % 4 * 1000);
  double *d = onDevice<double>(64);
  typed<<<1, 64, 64 * sizeof(double)>>>(d);
  float *f = onDevice<float>(64);
  typed<<<1, 64, 64 * sizeof(float)>>>(f);
  REQUIRE(fetch(d, 64)[0] == 0.5 && fetch(f, 64)[63] == 0);
  return 0;
}
