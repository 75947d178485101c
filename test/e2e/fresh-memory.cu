// Memory that a program has not written reads as zeros below the footprint, as that of a GPU does when a program has just
// begun: what other buffers left in it is not seen. (CUDA does not promise that; many programs rely on it.)
//
// RUN: %build %s -o %t
// RUN: %plain %t
// RUN: %plain DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=8M DRAGON_CHUNK_SIZE=2M %t
// RUN: %plain DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M %t
#include <cstdio>
#include <vector>

__global__ void add(int *sum, const int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sum[i] += data[i];
}

int main() {
  const int n = (12 << 20) / 4, rounds = 3;
  int *data, *sum;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = i * 7 + 1;
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&sum, n * sizeof(int));
  cudaMemcpy(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  // A part that is written by itself leaves the rest of its chunk as it was.
  cudaMemset(sum + n / 2, 0, 4);
  for (int k = 0; k < rounds; ++k)
    add<<<(n + 255) / 256, 256>>>(sum, data, n);
  std::vector<int> got(n);
  cudaMemcpy(got.data(), sum, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += got[i] != rounds * host[i];
  printf("%d of %d wrong\n", wrong, n);
  cudaFree(data);
  cudaFree(sum);
  return wrong != 0;
}
