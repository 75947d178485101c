// Kernels each block of which goes through all of the data, over more data than device and host memory hold together:
// they run some iterations of a loop at a time. Sums, extremes and histograms by grid stride, with registers, static and
// dynamic shared memory, local arrays and moving pointers as what goes on; column sums, with the sum in memory and in a
// register; planes; tiles, of which panels of blocks run at a time; a loop in front of which data are read; and loops in
// functions that the kernel calls.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: %tight DRAGON_DEVICE_MEMORY=16M DRAGON_LOG=1 ./program 2>&1 | FileCheck %s
// CHECK-DAG: sums{{.*}} runs by loop in
// CHECK-DAG: extremes{{.*}} runs by loop in
// CHECK-DAG: histogram{{.*}} runs by loop in
// CHECK-DAG: dynamicHistogram{{.*}} runs by loop in
// CHECK-DAG: remainders{{.*}} runs by loop in
// CHECK-DAG: affine{{.*}} runs by loop in
// CHECK-DAG: columns{{.*}} runs by loop in
// CHECK-DAG: columnsInMemory{{.*}} runs by loop in
// CHECK-DAG: planes{{.*}} runs by loop in
// CHECK-DAG: tiles{{.*}} runs by loop in
// CHECK-DAG: scaled{{.*}} runs by loop in
// CHECK-DAG: columnsByCalls{{.*}} runs by loop in
// CHECK-DAG: weighted{{.*}} runs by loop in
// CHECK: 13 of 13 right
// RUN: rm -rf %t.dir
#include "results.h"

#include <algorithm>
#include <vector>

__global__ void sums(const uint32_t *x, long n, uint32_t *out) {
  __shared__ uint32_t part[64];
  uint32_t sum = 0;
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n;
       i += (long)gridDim.x * blockDim.x)
    sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s; s /= 2) {
    if (threadIdx.x < s)
      part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(out, part[0]);
}

// A pointer moves along, and some threads find nothing.
__global__ void extremes(const uint32_t *x, int n, uint32_t *lo, uint32_t *hi) {
  uint32_t least = 0, most = 0;
  bool any = false;
  const uint32_t *p = x + blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x, p += gridDim.x * blockDim.x) {
    least = any && least < *p ? least : *p;
    most = any && most > *p ? most : *p;
    any = true;
  }
  if (any) {
    atomicMin(lo, least);
    atomicMax(hi, most);
  }
}

__global__ void histogram(const uint32_t *x, int n, uint32_t *bins) {
  __shared__ uint32_t own[64];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&own[x[i] % 64], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void dynamicHistogram(const uint8_t *x, int n, uint32_t *bins) {
  extern __shared__ uint32_t counts[];
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    counts[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&counts[x[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    atomicAdd(&bins[b], counts[b]);
}

// An array of the thread's own, indexed by data.
__global__ void remainders(const uint32_t *x, int n, uint32_t *out) {
  uint32_t sums[7] = {0, 0, 0, 0, 0, 0, 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sums[x[i] % 7] += x[i];
  for (int r = 0; r < 7; ++r)
    atomicAdd(&out[r], sums[r]);
}

// Nothing goes on but the index.
__global__ void affine(const uint32_t *x, uint32_t *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    y[i] = 3 * x[i] + i;
}

__global__ void columns(const uint32_t *m, int rows, int cols, uint32_t *out) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  uint32_t sum = 0;
  for (int r = 0; r < rows; ++r)
    sum += (r + 1) * m[(long)r * cols + c];
  out[c] = sum;
}

static __device__ void addColumn(const uint32_t *m, int rows, int cols, int c,
                                 uint32_t *sum) {
  for (int r = 0; r < rows; ++r)
    *sum += m[(long)r * cols + c];
}
static __device__ uint32_t columnOf(const uint32_t *m, int rows, int cols,
                                    int c) {
  uint32_t sum = 0;
  addColumn(m, rows, cols, c, &sum);
  return sum;
}
__global__ void columnsByCalls(const uint32_t *m, int rows, int cols,
                               uint32_t *out) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols)
    out[c] = columnOf(m, rows, cols, c);
}

template <typename Weight>
__device__ __noinline__ uint32_t weightedSum(const uint32_t *m, int rows,
                                             int cols, int c, Weight weight) {
  uint32_t sum = 0;
  for (int r = 0; r < rows; ++r)
    sum += weight(r) * m[(long)r * cols + c];
  return sum;
}
struct NumberOfRow {
  __device__ uint32_t operator()(int r) const { return r + 1; }
};
__global__ void weighted(const uint32_t *m, int rows, int cols, uint32_t *out) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  out[c] = weightedSum(m, rows, cols, c, NumberOfRow());
}

__global__ void columnsInMemory(const uint32_t *m, int rows, int cols,
                                uint32_t *out) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols)
    for (int r = 0; r < rows; ++r)
      out[c] += m[(long)r * cols + c];
}

// Through the planes of a volume, two of which go on in registers.
__global__ void planes(const uint32_t *in, uint32_t *out, int nx, int ny,
                       int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  long at = (long)y * nx + x, plane = (long)nx * ny;
  uint32_t below = in[at], here = in[at + plane];
  for (int z = 1; z < nz - 1; ++z) {
    uint32_t above = in[(z + 1) * plane + at];
    out[z * plane + at] = below + 2 * here + above;
    below = here;
    here = above;
  }
}

// C = A B, tile by tile.
const int T = 8;
__global__ void tiles(const uint32_t *a, const uint32_t *b, uint32_t *c,
                      int inner, int cols) {
  __shared__ uint32_t left[T][T], right[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int col = blockIdx.x * T + x, row = blockIdx.y * T + y;
  uint32_t sum = 0;
  for (int k = 0; k < inner; k += T) {
    left[y][x] = a[row * inner + k + x];
    right[y][x] = b[(k + y) * cols + col];
    __syncthreads();
    for (int i = 0; i < T; ++i)
      sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  c[row * cols + col] = sum;
}

// What is read in front of the loop is read each time.
__global__ void scaled(const uint32_t *x, const uint32_t *scale, int n,
                       uint32_t *out) {
  const uint32_t by = scale[blockIdx.x % 2];
  uint32_t sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += x[i] * by;
  atomicAdd(out, sum);
}

int main() {
  const int n = 6 << 20, cols = 2048, rows = n / cols;
  std::vector<uint32_t> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 2654435761u >> 9;
  uint32_t *dx = upload(x);
  uint32_t *small = upload(std::vector<uint32_t>(cols)), *dy;
  auto clear = [&] { CHECK(cudaMemset(small, 0, cols * 4)); };

  uint32_t sum = 0;
  for (uint32_t v : x)
    sum += v;
  sums<<<40, 64>>>(dx, n, small);
  check("sums", {sum}, small);

  CHECK(cudaMemset(small, 255, 4));
  CHECK(cudaMemset(small + 1, 0, 4));
  extremes<<<7, 96>>>(dx, n, small, small + 1);
  check("extremes",
        {*std::min_element(x.begin(), x.end()),
         *std::max_element(x.begin(), x.end())},
        small);

  clear();
  std::vector<uint32_t> bins(64), bytes(256);
  for (uint32_t v : x)
    ++bins[v % 64];
  histogram<<<20, 64>>>(dx, n, small);
  check("histogram", bins, small);

  clear();
  for (size_t i = 0; i < x.size() * 4; ++i)
    ++bytes[reinterpret_cast<uint8_t *>(x.data())[i]];
  dynamicHistogram<<<9, 64, 1024>>>(reinterpret_cast<uint8_t *>(dx), n * 4,
                                    small);
  check("dynamicHistogram", bytes, small);

  clear();
  std::vector<uint32_t> byRemainder(7);
  for (uint32_t v : x)
    byRemainder[v % 7] += v;
  remainders<<<5, 128>>>(dx, n, small);
  check("remainders", byRemainder, small);

  CHECK(cudaMalloc(&dy, n * 4l));
  std::vector<uint32_t> y(n);
  for (int i = 0; i < n; ++i)
    y[i] = 3 * x[i] + i;
  affine<<<32, 128>>>(dx, dy, n);
  check("affine", y, dy);

  std::vector<uint32_t> ofColumn(cols), plain(cols);
  for (int i = 0; i < n; ++i) {
    ofColumn[i % cols] += (i / cols + 1) * x[i];
    plain[i % cols] += x[i];
  }
  columns<<<cols / 64 + 1, 64>>>(dx, rows, cols, small);
  check("columns", ofColumn, small);
  clear();
  columnsByCalls<<<cols / 64 + 1, 64>>>(dx, rows, cols, small);
  check("columnsByCalls", plain, small);
  clear();
  weighted<<<cols / 64 + 1, 64>>>(dx, rows, cols, small);
  check("weighted", ofColumn, small);
  clear();
  columnsInMemory<<<cols / 64, 64>>>(dx, rows, cols, small);
  check("columnsInMemory", plain, small);

  const int nx = 128, ny = 128, nz = n / nx / ny, plane = nx * ny;
  CHECK(cudaMemset(dy, 0, n * 4l));
  std::fill(y.begin(), y.end(), 0);
  for (int i = plane; i < (nz - 1) * plane; ++i)
    y[i] = x[i - plane] + 2 * x[i] + x[i + plane];
  planes<<<dim3(nx / 32, ny / 4), dim3(32, 4)>>>(dx, dy, nx, ny, nz);
  check("planes", y, dy);

  // A has few rows and B few columns: each column of blocks needs all of A.
  const int inner = n / 32, few = 32;
  std::vector<uint32_t> c(few * few);
  for (int r = 0; r < few; ++r)
    for (int k = 0; k < inner; ++k)
      for (int i = 0; i < few; ++i)
        c[r * few + i] += x[r * inner + k] * y[k * few + i];
  tiles<<<dim3(few / T, few / T), dim3(T, T)>>>(dx, dy, small, inner, few);
  check("tiles", c, small);

  clear();
  uint32_t *scales = upload(std::vector<uint32_t>{5, 9});
  uint32_t ofBoth = 0;
  for (int i = 0; i < n; ++i)
    ofBoth += x[i] * (i / 64 % 2 ? 9 : 5);
  scaled<<<12, 64>>>(dx, scales, n, small);
  check("scaled", {ofBoth}, small);

  return countResults();
}
