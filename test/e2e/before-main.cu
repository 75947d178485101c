// Global objects may allocate, copy and launch in their constructors, and again in their destructors: the unit's kernels are
// known by then, and still are.
// RUN: %build %s -o program && %plain ./program && %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M ./program
#include "e2e.h"
#include <unistd.h>

static const int N = 1 << 21;

__device__ int factor = 3;

__global__ void scale(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= factor;
}

__global__ void count(const int *x, int expected, int n, unsigned *wrong) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] != expected * i)
    atomicAdd(wrong, 1u);
}

struct Vector {
  int *data = nullptr;
  unsigned *wrong = nullptr;

  Vector() {
    CHECK(cudaMalloc(&data, N * sizeof(int)));
    CHECK(cudaMalloc(&wrong, sizeof(unsigned)));
    CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
    int *h = new int[N];
    for (int i = 0; i < N; ++i)
      h[i] = i;
    CHECK(cudaMemcpy(data, h, N * sizeof(int), cudaMemcpyHostToDevice));
    delete[] h;
    scale<<<N / 256, 256>>>(data, N);
    CHECK(cudaGetLastError());
  }

  unsigned differences(int expected) {
    count<<<N / 256, 256>>>(data, expected, N, wrong);
    CHECK(cudaGetLastError());
    unsigned result = 0;
    CHECK(cudaMemcpy(&result, wrong, sizeof result, cudaMemcpyDeviceToHost));
    return result;
  }

  ~Vector() {
    const unsigned found = differences(9);
    cudaFree(data);
    cudaFree(wrong);
    if (found) {
      printf("%u differences at the end\n", found);
      fflush(stdout);
      _exit(1);
    }
  }
};

static Vector first, second;

int main() {
  for (Vector *vector : {&first, &second}) {
    unsigned found = vector->differences(3);
    scale<<<N / 256, 256>>>(vector->data, N);
    CHECK(cudaGetLastError());
    if (found) {
      printf("%u differences\n", found);
      return 1;
    }
  }
  return 0;
}
