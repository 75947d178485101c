#include <cstdio>

__global__ void fill(int *data) { data[threadIdx.x] = 7; }

int main() {
  int *data, host[32];
  cudaMalloc(&data, sizeof(host));
  fill<<<1, 32>>>(data);
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  cudaFree(data);
  printf("%d\n", host[31]);
}
