//===- kernels.cu - kernels on the host processor, and OpenMP -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same computation as a CUDA kernel and as the loop that one would write
// for a processor, in one program: what the cpu device costs. Results of both
// are compared. A line each, for bench/cpu/run:
//
//   NAME OPENMP-SECONDS KERNEL-SECONDS WRONG
//
// Seconds are the least of several runs that take turns. Run it with
// DRAGON_BACKEND=cpu.
//
//   kernels [MILLIONS-OF-ELEMENTS] [TIMES]
//
//===----------------------------------------------------------------------===//
#include "../Check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int Block = 256;

int blocksFor(size_t threads) { return int((threads + Block - 1) / Block); }

/// Memory that both the kernel and the loop use, through one pointer.
class Array {
public:
  explicit Array(size_t count) : Count(count) {
    CHECK(cudaMallocManaged(&Data, count * sizeof(float)));
  }
  Array(const Array &) = delete;
  ~Array() { CHECK(cudaFree(Data)); }
  void fill(float scale) {
    for (size_t i = 0; i < Count; ++i)
      Data[i] = scale * float((i * 2654435761u >> 8) & 0xffff) / 65536.0f;
  }
  float *get() const { return Data; }
  size_t size() const { return Count; }

private:
  float *Data = nullptr;
  size_t Count;
};

double secondsOf(const std::function<void()> &body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Both write to `out`; rounding may differ by what `tolerance` says.
void compare(const char *name, int times, Array &out, float tolerance,
             const std::function<void()> &loop,
             const std::function<void()> &kernel) {
  double loopSeconds = 1e30, kernelSeconds = 1e30;
  std::vector<float> expected;
  size_t wrong = 0;
  for (int i = 0; i < times; ++i) {
    std::fill_n(out.get(), out.size(), -1.0f);
    loopSeconds = std::min(loopSeconds, secondsOf(loop));
    expected.assign(out.get(), out.get() + out.size());
    std::fill_n(out.get(), out.size(), -2.0f);
    kernelSeconds = std::min(kernelSeconds, secondsOf([&] {
                               kernel();
                               CHECK(cudaDeviceSynchronize());
                             }));
    for (size_t k = 0; k < out.size(); ++k)
      wrong += !(std::fabs(expected[k] - out.get()[k]) <=
                 tolerance * std::max(1.0f, std::fabs(expected[k])));
  }
  printf("%s %.6f %.6f %zu\n", name, loopSeconds, kernelSeconds, wrong);
  fflush(stdout);
}

//===----------------------------------------------------------------------===//
// A thread for each element
//===----------------------------------------------------------------------===//

__global__ void saxpy(float a, const float *x, const float *y, float *out,
                      size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    out[i] = a * x[i] + y[i];
}

void saxpyLoop(float a, const float *x, const float *y, float *out, size_t n) {
#pragma omp parallel for
  for (size_t i = 0; i < n; ++i)
    out[i] = a * x[i] + y[i];
}

__global__ void strided(const float *x, float *out, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    out[i] = x[i] * x[i] + 1.0f;
}

void stridedLoop(const float *x, float *out, size_t n) {
#pragma omp parallel for
  for (size_t i = 0; i < n; ++i)
    out[i] = x[i] * x[i] + 1.0f;
}

__global__ void stencil(const float *in, float *out, int side) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= side || y >= side)
    return;
  size_t at = size_t(y) * side + x;
  float sum = in[at] * 4.0f;
  sum += in[x > 0 ? at - 1 : at] + in[x + 1 < side ? at + 1 : at];
  sum += in[y > 0 ? at - side : at] + in[y + 1 < side ? at + side : at];
  out[at] = sum * 0.125f;
}

void stencilLoop(const float *in, float *out, int side) {
#pragma omp parallel for
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      size_t at = size_t(y) * side + x;
      float sum = in[at] * 4.0f;
      sum += in[x > 0 ? at - 1 : at] + in[x + 1 < side ? at + 1 : at];
      sum += in[y > 0 ? at - side : at] + in[y + 1 < side ? at + side : at];
      out[at] = sum * 0.125f;
    }
}

__host__ __device__ float normal(float x) {
  return 0.5f * erfcf(-x * 0.70710678f);
}

__host__ __device__ float price(float stock, float strike, float years) {
  float spread = 0.3f * sqrtf(years);
  float d = (logf(stock / strike) + (0.02f + 0.045f) * years) / spread;
  return stock * normal(d) - strike * expf(-0.02f * years) * normal(d - spread);
}

__global__ void options(const float *stock, const float *strike, float *out,
                        size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    out[i] = price(stock[i] + 5.0f, strike[i] + 5.0f, 1.5f);
}

void optionsLoop(const float *stock, const float *strike, float *out,
                 size_t n) {
#pragma omp parallel for
  for (size_t i = 0; i < n; ++i)
    out[i] = price(stock[i] + 5.0f, strike[i] + 5.0f, 1.5f);
}

//===----------------------------------------------------------------------===//
// A thread for each row
//===----------------------------------------------------------------------===//

__global__ void rowSums(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int c = 0; c < columns; ++c)
    sum += in[size_t(row) * columns + c];
  out[row] = sum;
}

void rowSumsLoop(const float *in, float *out, int rows, int columns) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += in[size_t(row) * columns + c];
    out[row] = sum;
  }
}

//===----------------------------------------------------------------------===//
// Blocks that share memory
//===----------------------------------------------------------------------===//

/// The sum of each block's elements, by halves.
__global__ void blockSums(const float *in, float *out) {
  __shared__ float sums[Block];
  sums[threadIdx.x] = in[blockIdx.x * size_t(blockDim.x) + threadIdx.x];
  __syncthreads();
  for (int half = Block / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = sums[0];
}

void blockSumsLoop(const float *in, float *out, int blocks) {
#pragma omp parallel for
  for (int b = 0; b < blocks; ++b) {
    float sum = 0;
    for (int i = 0; i < Block; ++i)
      sum += in[size_t(b) * Block + i];
    out[b] = sum;
  }
}

constexpr int Tile = 16;

/// side is a multiple of Tile.
__global__ void multiply(const float *a, const float *b, float *out, int side) {
  __shared__ float tileA[Tile][Tile], tileB[Tile][Tile];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * Tile + y, column = blockIdx.x * Tile + x;
  float sum = 0;
  for (int k = 0; k < side; k += Tile) {
    tileA[y][x] = a[row * side + k + x];
    tileB[y][x] = b[(k + y) * side + column];
    __syncthreads();
    for (int i = 0; i < Tile; ++i)
      sum += tileA[y][i] * tileB[i][x];
    __syncthreads();
  }
  out[row * side + column] = sum;
}

void multiplyLoop(const float *a, const float *b, float *out, int side) {
#pragma omp parallel for
  for (int row = 0; row < side; ++row) {
    std::fill_n(out + size_t(row) * side, side, 0.0f);
    for (int k = 0; k < side; ++k)
      for (int column = 0; column < side; ++column)
        out[row * side + column] += a[row * side + k] * b[k * side + column];
  }
}

//===----------------------------------------------------------------------===//
// Threads that write to one place
//===----------------------------------------------------------------------===//

constexpr int Bins = 1024;

__device__ __host__ int binOf(float value) {
  return std::min(int(value * Bins), Bins - 1);
}

__global__ void histogram(const float *in, float *out, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    atomicAdd(&out[binOf(in[i])], 1.0f);
}

void histogramLoop(const float *in, float *out, size_t n) {
#pragma omp parallel for
  for (size_t i = 0; i < n; ++i) {
    float *bin = &out[binOf(in[i])];
#pragma omp atomic
    *bin += 1.0f;
  }
}

} // namespace

int main(int argc, char **argv) {
  const size_t n = (argc > 1 ? strtoul(argv[1], nullptr, 10) : 16) << 20;
  const int times = argc > 2 ? atoi(argv[2]) : 5;
  const int side = int(std::sqrt(double(n))), columns = 1024;
  const int rows = int(n / columns), matrix = 512;
  Array x(n), y(n), out(n), few(n / Block), bins(Bins);
  Array a(size_t(matrix) * matrix), b(a.size()), product(a.size());
  x.fill(1);
  y.fill(2);
  a.fill(1);
  b.fill(-1);

  compare(
      "saxpy", times, out, 1e-6f,
      [&] { saxpyLoop(2, x.get(), y.get(), out.get(), n); },
      [&] {
        saxpy<<<blocksFor(n), Block>>>(2, x.get(), y.get(), out.get(), n);
      });
  compare(
      "strided", times, out, 1e-6f, [&] { stridedLoop(x.get(), out.get(), n); },
      [&] { strided<<<1024, Block>>>(x.get(), out.get(), n); });
  Array plane(size_t(side) * side);
  compare(
      "stencil", times, plane, 1e-6f,
      [&] { stencilLoop(x.get(), plane.get(), side); },
      [&] {
        dim3 grid((side + 31) / 32, (side + 7) / 8);
        stencil<<<grid, dim3(32, 8)>>>(x.get(), plane.get(), side);
      });
  compare(
      "options", times, out, 1e-5f,
      [&] { optionsLoop(x.get(), y.get(), out.get(), n); },
      [&] {
        options<<<blocksFor(n), Block>>>(x.get(), y.get(), out.get(), n);
      });
  Array sums(rows);
  compare(
      "rowSums", times, sums, 1e-5f,
      [&] { rowSumsLoop(x.get(), sums.get(), rows, columns); },
      [&] {
        rowSums<<<blocksFor(rows), Block>>>(x.get(), sums.get(), rows, columns);
      });
  compare(
      "blockSums", times, few, 1e-5f,
      [&] { blockSumsLoop(x.get(), few.get(), int(few.size())); },
      [&] { blockSums<<<int(few.size()), Block>>>(x.get(), few.get()); });
  compare(
      "multiply", times, product, 1e-4f,
      [&] { multiplyLoop(a.get(), b.get(), product.get(), matrix); },
      [&] {
        dim3 grid(matrix / Tile, matrix / Tile);
        multiply<<<grid, dim3(Tile, Tile)>>>(a.get(), b.get(), product.get(),
                                             matrix);
      });
  compare(
      "histogram", times, bins, 0,
      [&] {
        std::fill_n(bins.get(), Bins, 0.0f);
        histogramLoop(x.get(), bins.get(), n);
      },
      [&] {
        std::fill_n(bins.get(), Bins, 0.0f);
        histogram<<<blocksFor(n), Block>>>(x.get(), bins.get(), n);
      });
  return 0;
}
