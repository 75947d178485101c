// cudaMallocHost, cudaHostAlloc, cudaHostRegister: kernels read and write pinned
// host memory through device pointers.
// RUN: %conforms %s
#include "conformance.h"

__global__ void addOne(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] += 1;
}

int main() {
  const int n = 3000;
  int *pinned, *mapped, *device;
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  CHECK(cudaHostAlloc(&mapped, n * sizeof(int),
                      cudaHostAllocMapped | cudaHostAllocPortable));
  for (int i = 0; i < n; ++i)
    pinned[i] = i, mapped[i] = 3 * i;
  CHECK(cudaHostGetDevicePointer(&device, mapped, 0));
  addOne<<<12, 256>>>(device, n);
  CHECK(cudaHostGetDevicePointer(&device, pinned, 0));
  addOne<<<12, 256>>>(device, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    REQUIRE(pinned[i] == i + 1 && mapped[i] == 3 * i + 1);
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, mapped));
  REQUIRE(flags & cudaHostAllocMapped);

  std::vector<int> own(n, 5);
  CHECK(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
  CHECK(cudaHostGetDevicePointer(&device, own.data(), 0));
  addOne<<<12, 256>>>(device, n);
  CHECK(cudaDeviceSynchronize());
  REQUIRE(own[0] == 6 && own[n - 1] == 6);
  REFUSED(cudaErrorHostMemoryAlreadyRegistered,
          cudaHostRegister(own.data(), n * sizeof(int), 0));
  CHECK(cudaHostUnregister(own.data()));
  REFUSED(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data()));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaFreeHost(nullptr));
  return 0;
}
