// cudaMemset of wholes and parts, copies within the device that cross chunks and overlap chunks of both sides, 2D
// copies and copies of odd sizes at odd addresses. The kernel cannot be sliced (each block strides over everything), so
// part of its buffers is in host memory while it runs.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 18000001 copies
// RUN: %plain ./program in.bin plain.bin && %roomy ./program in.bin tight.bin
// RUN: cmp plain.bin tight.bin
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void add(unsigned char *to, const unsigned char *from, size_t n) {
  size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += stride)
    to[i] += from[i];
}

int main(int, char **argv) {
  const size_t bytes = 18000001;
  std::vector<unsigned char> in(bytes), model(bytes), scratch(bytes);
  FILE *file = openFile(argv[1], "rb");
  REQUIRE(fread(in.data(), 1, bytes, file) == bytes);
  fclose(file);

  unsigned char *a, *b;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemset(a, 0x5a, bytes));
  CHECK(cudaMemset(b, 0, bytes));
  std::fill(model.begin(), model.end(), 0x5a);

  // From the host to an odd address, across chunks.
  CHECK(
      cudaMemcpy(a + 1000003, in.data() + 17, 7000001, cudaMemcpyHostToDevice));
  memcpy(model.data() + 1000003, in.data() + 17, 7000001);
  // A part set to a value.
  CHECK(cudaMemset(a + 3000001, 0xc3, 2500000));
  memset(model.data() + 3000001, 0xc3, 2500000);
  // Within the device, from one odd place to another.
  CHECK(cudaMemcpy(b + 77, a + 2097151, 9000001, cudaMemcpyDeviceToDevice));
  std::vector<unsigned char> modelB(bytes);
  memcpy(modelB.data() + 77, model.data() + 2097151, 9000001);
  // Rows of a picture, in and out.
  CHECK(cudaMemcpy2D(b + 10000000, 5000, in.data(), 3000, 2999, 1500,
                     cudaMemcpyHostToDevice));
  for (size_t row = 0; row < 1500; ++row)
    memcpy(modelB.data() + 10000000 + row * 5000, in.data() + row * 3000, 2999);
  CHECK(cudaMemcpy2D(a + 12000000, 2000, b + 10000000, 5000, 1999, 1500,
                     cudaMemcpyDeviceToDevice));
  for (size_t row = 0; row < 1500; ++row)
    memcpy(model.data() + 12000000 + row * 2000,
           modelB.data() + 10000000 + row * 5000, 1999);
  // Default direction, found from the pointers.
  CHECK(cudaMemcpy(a + 16000000, b + 100, 2000000, cudaMemcpyDefault));
  memcpy(model.data() + 16000000, modelB.data() + 100, 2000000);

  add<<<512, 256>>>(a, b, bytes);
  for (size_t i = 0; i < bytes; ++i)
    model[i] += modelB[i];

  CHECK(cudaMemcpy(scratch.data(), a, bytes, cudaMemcpyDeviceToHost));
  REQUIRE(scratch == model);
  CHECK(
      cudaMemcpy(scratch.data() + 5, b + 4000001, 6000001, cudaMemcpyDefault));
  REQUIRE(memcmp(scratch.data() + 5, modelB.data() + 4000001, 6000001) == 0);

  FILE *out = openFile(argv[2], "wb");
  REQUIRE(fwrite(scratch.data(), 1, bytes, out) == bytes);
  REQUIRE(fclose(out) == 0);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  return 0;
}
