// Memory is a texture's for as long as the texture lives: it stays as it is then, and others have the room afterwards.
// RUN: %conforms %s
#include "conformance.h"

__global__ void sum(cudaTextureObject_t texture, int n, int *out) {
  unsigned total = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    total += tex1Dfetch<int>(texture, i);
  atomicAdd(out, int(total));
}
__global__ void set(int *memory, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    memory[i] = value;
}

const int n = 1 << 19; // 2 MiB

cudaTextureObject_t over(int *memory) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = n * sizeof(int);
  cudaTextureDesc description{};
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

void fill(int *memory, int value) {
  set<<<n / 256, 256>>>(memory, n, value);
  CHECK(cudaGetLastError());
}

int total(cudaTextureObject_t texture, int *out) {
  CHECK(cudaMemset(out, 0, sizeof(int)));
  sum<<<1, 256>>>(texture, n, out);
  return fetch(out, 1)[0];
}

int main() {
  int *out = onDevice<int>(1);
  // One after another: all of them together may be more than the device has.
  std::vector<int *> memory;
  for (int i = 0; i < 5; ++i) {
    memory.push_back(onDevice<int>(n));
    fill(memory[i], i + 1);
    cudaTextureObject_t texture = over(memory[i]);
    REQUIRE(total(texture, out) == (i + 1) * n);
    fill(memory[i], i + 2);
    REQUIRE(total(texture, out) == (i + 2) * n);
    CHECK(cudaMemset(memory[i], 0, n * sizeof(int)));
    REQUIRE(total(texture, out) == 0);
    fill(memory[i], i + 3);
    CHECK(cudaDestroyTextureObject(texture));
  }
  for (int i = 0; i < 5; ++i)
    REQUIRE(fetch(memory[i], n)[n - 1] == i + 3);

  // A texture that outlives its memory has nothing of what comes after it.
  cudaTextureObject_t first = over(memory[0]);
  CHECK(cudaFree(memory[0]));
  int *next = onDevice<int>(n);
  fill(next, 7);
  cudaTextureObject_t second = over(next);
  CHECK(cudaDestroyTextureObject(first));
  fill(memory[1], 1);
  fill(memory[2], 1);
  REQUIRE(total(second, out) == 7 * n);
  CHECK(cudaDestroyTextureObject(second));
  return 0;
}
