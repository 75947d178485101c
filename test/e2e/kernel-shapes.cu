// Kernels that a slicer or a footprint could get wrong, each over more data than the device holds: backwards, strided,
// transposing, three-dimensional, gathering and scattering through indices, atomics, reductions, pointers in a struct,
// several outputs, offsets that wrap, a guard on something else than the index.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 12M shapes
// RUN: for kernel in reverse strided transpose cube gather scatter histogram sum struct halves wrap guarded neighbours \
// RUN:   chars vector shared late columns; do \
// RUN:   %plain ./program $kernel in.bin plain.bin && %roomy ./program $kernel in.bin tight.bin || exit 1; \
// RUN:   cmp plain.bin tight.bin && ./program $kernel in.bin tight.bin check || exit 1; \
// RUN:   echo $kernel; \
// RUN: done
// RUN: rm -rf %t.dir
#include "e2e.h"

const int n = 3 << 20;
const size_t bytes = (size_t)n * 4;

__global__ void reverse(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[n - 1 - i] = in[i];
}

// Each thread has a stretch of its own.
__global__ void strided(const uint32_t *in, uint32_t *out, int n, int each) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  uint32_t sum = 0;
  for (int i = first; i < min(first + each, n); ++i) {
    sum += in[i];
    out[i] = sum;
  }
}

__global__ void transpose(const uint32_t *in, uint32_t *out, int rows,
                          int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols)
    out[col * rows + row] = in[row * cols + col];
}

__global__ void cube(const uint32_t *in, uint32_t *out, int nx, int ny,
                     int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz)
    return;
  size_t here = ((size_t)z * ny + y) * nx + x;
  size_t below = ((size_t)max(z - 1, 0) * ny + y) * nx + x;
  out[here] = in[here] + 3 * in[below];
}

__global__ void gather(const uint32_t *in, uint32_t *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[in[i] % n];
}

// 5 and n have no common divisor: each element is written once.
__global__ void scatter(const uint32_t *in, uint32_t *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[(size_t)i * 5 % n] = scramble(in[i]);
}

__global__ void histogram(const uint32_t *in, uint32_t *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&out[in[i] % 1000003], 1);
}

__global__ void sum(const uint32_t *in, uint32_t *out, int n) {
  __shared__ uint32_t part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(out, part[0]);
}

struct Arrays {
  const uint32_t *in;
  uint32_t *out;
  int n;
};
__global__ void structs(Arrays arrays) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < arrays.n)
    arrays.out[i] = scramble(arrays.in[i]);
}

// One launch writes two parts of one buffer.
__global__ void halves(const uint32_t *in, uint32_t *low, uint32_t *high,
                       int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) {
    low[i] = in[2 * i];
    high[i] = in[2 * i + 1];
  }
}

__global__ void wrap(const uint32_t *in, uint32_t *out, unsigned n,
                     unsigned shift) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned from = i + shift;
    if (from >= n)
      from -= n;
    out[i] = in[from];
  }
}

// Most elements are not written and keep what they had.
__global__ void guarded(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 7 == 0)
    out[i] = i;
}

__global__ void neighbours(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1)
    out[i] = in[i - 1] + 2 * in[i] + in[i + 1];
  else if (i < n)
    out[i] = in[i];
}

__global__ void chars(const unsigned char *in, unsigned char *out, size_t n) {
  size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += stride)
    out[i] = in[i] ^ (unsigned char)i;
}

__global__ void vector(const uint4 *in, uint4 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uint4 v = in[i];
    out[i] = make_uint4(v.w, v.z, v.y, v.x);
  }
}

__global__ void shared(const uint32_t *in, uint32_t *out, int n) {
  extern __shared__ uint32_t tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    tile[threadIdx.x] = in[i];
  __syncthreads();
  if (i < n)
    out[i] = tile[blockDim.x - 1 - threadIdx.x];
}

// The last block to arrive finishes the work: blocks must not be run apart
// without the counter, nor twice.
__global__ void late(const uint32_t *in, uint32_t *out, unsigned *counter,
                     int n) {
  __shared__ bool last;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    last = atomicAdd(counter, 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0)
    out[0] = *counter;
}

// A thread for each column walks down the rows.
__global__ void columns(const uint32_t *in, uint32_t *out, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols)
    return;
  uint32_t total = 0;
  for (int row = 0; row < rows; ++row) {
    total += in[row * cols + col];
    out[row * cols + col] = total;
  }
}

static std::vector<uint32_t> expected(const std::string &kernel,
                                      const std::vector<uint32_t> &in) {
  std::vector<uint32_t> out(n, 0xffffffffu);
  const unsigned char *c = (const unsigned char *)in.data();
  for (int i = 0; i < n; ++i) {
    if (kernel == "reverse")
      out[n - 1 - i] = in[i];
    else if (kernel == "strided")
      out[i] = i % 48 == 0 ? in[i] : out[i - 1] + in[i];
    else if (kernel == "transpose")
      out[i % 2048 * 1536 + i / 2048] = in[i];
    else if (kernel == "cube")
      out[i] = in[i] + 3 * in[i < 192 * 128 ? i : i - 192 * 128];
    else if (kernel == "gather")
      out[i] = in[in[i] % n];
    else if (kernel == "scatter")
      out[(size_t)i * 5 % n] = scramble(in[i]);
    else if (kernel == "histogram")
      out[in[i] % 1000003] += 1;
    else if (kernel == "sum")
      out[0] += in[i];
    else if (kernel == "struct" || kernel == "late")
      out[i] = scramble(in[i]);
    else if (kernel == "halves")
      out[i] = i < n / 2 ? in[2 * i] : in[2 * (i - n / 2) + 1];
    else if (kernel == "wrap")
      out[i] = in[(i + 1234567) % n];
    else if (kernel == "guarded")
      out[i] = in[i] % 7 == 0 ? i : out[i];
    else if (kernel == "neighbours")
      out[i] = i == 0 || i == n - 1 ? in[i] : in[i - 1] + 2 * in[i] + in[i + 1];
    else if (kernel == "chars")
      for (int b = 4 * i; b < 4 * i + 4; ++b)
        ((unsigned char *)out.data())[b] = c[b] ^ (unsigned char)b;
    else if (kernel == "vector")
      out[i] = in[i / 4 * 4 + 3 - i % 4];
    else if (kernel == "shared")
      out[i] = in[i / 256 * 256 + 255 - i % 256];
    else if (kernel == "columns")
      out[i] = i < 2048 ? in[i] : out[i - 2048] + in[i];
  }
  if (kernel == "late")
    out[0] = n / 256;
  return out;
}

int main(int argc, char **argv) {
  std::string kernel = argv[1];
  if (argc == 5) {
    expectFile(argv[3], expected(kernel, slurp(argv[2])));
    return 0;
  }
  FILE *in = openFile(argv[2], "rb");
  FILE *out = openFile(argv[3], "wb");
  uint32_t *h = (uint32_t *)malloc(bytes);
  REQUIRE(fread(h, 4, n, in) == n);
  uint32_t *d_in, *d_out, *d_counter;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMalloc(&d_counter, 4));
  CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_out, 0xff, bytes));
  CHECK(cudaMemset(d_counter, 0, 4));

  int blocks = n / 256;
  if (kernel == "reverse")
    reverse<<<blocks, 256>>>(d_in, d_out, n);
  else if (kernel == "strided")
    strided<<<n / 48 / 256, 256>>>(d_in, d_out, n, 48);
  else if (kernel == "transpose")
    transpose<<<dim3(2048 / 16, 1536 / 16), dim3(16, 16)>>>(d_in, d_out, 1536,
                                                            2048);
  else if (kernel == "cube")
    cube<<<dim3(6, 16, 32), dim3(32, 8, 4)>>>(d_in, d_out, 192, 128, 128);
  else if (kernel == "gather")
    gather<<<blocks, 256>>>(d_in, d_out, n);
  else if (kernel == "scatter")
    scatter<<<blocks, 256>>>(d_in, d_out, n);
  else if (kernel == "histogram")
    histogram<<<64, 256>>>(d_in, d_out, n);
  else if (kernel == "sum")
    sum<<<blocks, 256>>>(d_in, d_out, n);
  else if (kernel == "struct")
    structs<<<blocks, 256>>>(Arrays{d_in, d_out, n});
  else if (kernel == "halves")
    halves<<<blocks / 2, 256>>>(d_in, d_out, d_out + n / 2, n / 2);
  else if (kernel == "wrap")
    wrap<<<blocks, 256>>>(d_in, d_out, n, 1234567);
  else if (kernel == "guarded")
    guarded<<<blocks, 256>>>(d_in, d_out, n);
  else if (kernel == "neighbours")
    neighbours<<<blocks, 256>>>(d_in, d_out, n);
  else if (kernel == "chars")
    chars<<<100, 256>>>((unsigned char *)d_in, (unsigned char *)d_out, bytes);
  else if (kernel == "vector")
    vector<<<blocks / 4, 256>>>((uint4 *)d_in, (uint4 *)d_out, n / 4);
  else if (kernel == "shared")
    shared<<<blocks, 256, 1024>>>(d_in, d_out, n);
  else if (kernel == "late")
    late<<<blocks, 256>>>(d_in, d_out, d_counter, n);
  else if (kernel == "columns")
    columns<<<8, 256>>>(d_in, d_out, 1536, 2048);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(h, 4, n, out) == n);
  REQUIRE(fclose(out) == 0);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  CHECK(cudaFree(d_counter));
  return 0;
}
