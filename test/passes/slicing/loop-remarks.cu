// RUN: %dragon-cc -O2 -arch=sm_90 --dragon-targets=cpu -fno-dragon-paging -c %s -o %t.o -w -Rpass=dragon -Rpass-missed=dragon 2>&1 | grep remark: \
// RUN:   | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O0 -arch=sm_90 --dragon-targets=cpu -fno-dragon-paging -c %s -o %t.o -w -Rpass=dragon -Rpass-missed=dragon 2>&1 | grep remark: \
// RUN:   | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O2 -arch=sm_90 --dragon-targets=cpu -fno-dragon-paging -fno-dragon-slicing -c %s -o %t.o -w -Rpass=dragon -Rpass-missed=dragon \
// RUN:   2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: remark:

// Loops that a launch can be cut along, and those that it cannot, each for a reason of its own. All of them are worth it: each
// has an access that goes further with each iteration than a slice of the grid does.
#include <cstdio>
#include <cuda_runtime.h>

#define FROM (blockIdx.x * blockDim.x + threadIdx.x)
#define STEP (gridDim.x * blockDim.x)

// -- What can be cut

__global__ void sums(const unsigned *x, long n, unsigned *out) {
  unsigned sum = 0;
  // CHECK: loop-remarks.cu:[[#@LINE+1]]:3: remark: kernel 'sums' can run in slices along this loop: where data exceeds device memory, some of its iterations run at a time, with the data that they need [-Rpass=dragon]
  for (long i = FROM; i < n; i += STEP)
    sum += x[i];
  atomicAdd(out, sum);
}

__global__ void columns(const unsigned *m, int rows, int cols, unsigned *out) {
  int c = FROM;
  if (c >= cols)
    return;
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'columns' can run in slices along this loop:
  for (int r = 0; r < rows; ++r)
    sum += m[(long)r * cols + c];
  out[c] = sum;
}

static __device__ unsigned columnOf(const unsigned *m, int rows, int cols,
                                    int c) {
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'columnsByCall' can run in slices along this loop:
  for (int r = 0; r < rows; ++r)
    sum += m[(long)r * cols + c];
  return sum;
}
__global__ void columnsByCall(const unsigned *m, int rows, int cols,
                              unsigned *out) {
  int c = FROM;
  if (c < cols)
    out[c] = columnOf(m, rows, cols, c);
}

// All blocks walk through the same bytes, a few at a time.
__global__ void bodies(const float *at, int n, float *out) {
  float sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'bodies' can run in slices along this loop:
  for (int i = 0; i < n; ++i)
    sum += at[i] * threadIdx.x;
  out[FROM] = sum;
}

__global__ void histogram(const unsigned *x, int n, unsigned *bins) {
  __shared__ unsigned own[64];
  own[threadIdx.x] = 0;
  __syncthreads();
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'histogram' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    atomicAdd(&own[x[i] % 64], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void remainders(const unsigned *x, int n, unsigned *out) {
  unsigned sums[7] = {0, 0, 0, 0, 0, 0, 0};
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'remainders' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    sums[x[i] % 7] += x[i];
  for (int r = 0; r < 7; ++r)
    atomicAdd(&out[r], sums[r]);
}

// What is read in front of the loop is read in each launch: only where no other pointer leads to it.
__global__ void scaled(const unsigned *x, const unsigned *by, int n, unsigned *y) {
  const unsigned factor = by[blockIdx.x % 2];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'scaled' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i] * factor;
}

// Asks each time for what neither the kernel nor another one changes meanwhile.
struct Sizes {
  int n[4];
};
__constant__ int most;
__global__ void bounded(const unsigned *x, Sizes sizes, int which, unsigned *y) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'bounded' can run in slices along this loop:
  for (int i = FROM; i < sizes.n[which] + most; i += STEP)
    y[i] = x[i];
}

// A pointer into a buffer moves along.
__global__ void walks(const unsigned *x, int n, unsigned *out) {
  const unsigned *p = x + FROM;
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'walks' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP, p += STEP)
    sum += *p;
  atomicAdd(out, sum);
}

// Functions that compute, assembly that does, and values of the other lanes.
__device__ __noinline__ int squareOf(int v) { return v * v; }
__global__ void computes(const unsigned *x, int n, float *y) {
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const float factor = squareOf(lane) + expf(n) + __shfl_sync(~0u, lane, 0);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'computes' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i] * factor;
}

// The outer loop, of two: each round of it goes through other bytes.
__global__ void rows(const unsigned *m, int rows, int cols, unsigned *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'rows' can run in slices along this loop:
  for (int r = 0; r < rows; ++r)
    for (int c = FROM; c < cols; c += STEP)
      out[(long)r * cols + c] = m[(long)r * cols + c];
}

// The inner loop, in each round of the outer one: all of a buffer, or a column of it.
__global__ void sumsOfColumns(const unsigned *m, int rows, int cols, unsigned *out) {
  for (int r = 0; r < rows; ++r)
    // CHECK: :[[#@LINE+1]]:5: remark: kernel 'sumsOfColumns' can run in slices along this loop:
    for (int c = FROM; c < cols; c += STEP)
      out[c] += m[(long)r * cols + c];
}
__global__ void rowsOfColumns(const unsigned *m, int rows, int cols, unsigned *out) {
  for (int r = FROM; r < rows; r += STEP) {
    unsigned sum = 0;
    // CHECK: :[[#@LINE+1]]:5: remark: kernel 'rowsOfColumns' can run in slices along this loop:
    for (int c = 0; c < cols; ++c)
      sum += m[(long)c * rows + r];
    out[r] = sum;
  }
}

// Tiles, along which the outer loop walks.
__global__ void tiles(const unsigned *x, int n, int width, unsigned *out) {
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'tiles' can run in slices along this loop:
  for (int tile = 0; tile < n; tile += width)
    for (int k = 0; k < width; ++k)
      sum += x[tile + k];
  out[FROM] = sum;
}

// Two loops in a round, behind another one.
__global__ void inRounds(const unsigned *x, unsigned *y, int n, int rounds, unsigned *out) {
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'inRounds' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    sum += x[i];
  for (int r = 0; r < rounds; ++r) {
    // CHECK: :[[#@LINE+1]]:5: remark: kernel 'inRounds' can run in slices along this loop:
    for (int i = FROM; i < n; i += STEP)
      sum = sum * 3 + x[i];
    // CHECK: :[[#@LINE+1]]:5: remark: kernel 'inRounds' can run in slices along this loop:
    for (int i = FROM; i < n; i += STEP)
      y[i] = sum;
  }
  out[FROM] = sum;
}

// -- Where the loop is left, and what its condition asks: it remembers how it was left

__global__ void breaks(const unsigned *x, int n, unsigned *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'breaks' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP) {
    if (x[i] == 7)
      break;
    out[i] = x[i];
  }
}

__global__ void returns(const unsigned *x, int n, unsigned *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'returns' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP) {
    if (x[i] == 7)
      return;
    out[i] = x[i];
  }
}

__global__ void atItsEnd(const unsigned *x, int n, unsigned *out) {
  int i = FROM;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'atItsEnd' can run in slices along this loop:
  do {
    out[i] = x[i];
    i += STEP;
  } while (i < n);
}

__global__ void continues(const unsigned *x, int n, unsigned *out) {
  int i = FROM;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'continues' can run in slices along this loop:
  while (i < n) {
    out[i] = x[i];
    i += STEP;
    if (x[i - STEP] == 7)
      continue;
    out[i - STEP] = 0;
  }
}

__global__ void asksLanes(const unsigned *x, int n, unsigned *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'asksLanes' can run in slices along this loop:
  for (int i = FROM; __any_sync(~0u, i < n); i += STEP)
    if (i < n)
      out[i] = x[i];
}

__global__ void asksMemory(const unsigned *x, const int *n, unsigned *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'asksMemory' can run in slices along this loop:
  for (int i = FROM; i < *n; i += STEP)
    out[i] = x[i];
}

__global__ void findsInShared(const unsigned *x, int n, unsigned *out) {
  __shared__ unsigned part[256];
  unsigned *found = part;
  part[threadIdx.x] = x[FROM];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'findsInShared' cannot run in slices along this loop: a value that is used behind it cannot be kept for the next launch;
  for (int i = FROM; i < n; i += STEP) {
    unsigned *at = part + (x[i] & 255);
    if (*at == 7) {
      found = at;
      break;
    }
  }
  *out = *found;
}

// -- What goes on

__global__ void keepsAddresses(unsigned *x, unsigned *y, int n, int which) {
  unsigned *both[2] = {x, y};
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'keepsAddresses' cannot run in slices along this loop: a variable in local memory may hold addresses;
  for (int i = FROM; i < n; i += STEP) {
    both[i % 2] += 1;
    x[i] = both[which] - x;
  }
}

// Their contents begin in each iteration, or are the same in each launch.
struct Walk {
  unsigned at, step;
  const unsigned *base;
  __device__ explicit Walk(const unsigned *x) : at(FROM), step(STEP), base(x) {}
  __device__ unsigned next(unsigned i) const { return i + step; }
};
__global__ void objects(const unsigned *x, unsigned n, unsigned *out, unsigned which) {
  const Walk walk(x);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'objects' can run in slices along this loop:
  for (unsigned i = walk.at; i < n; i = walk.next(i))
    out[i] = walk.base[i];
}

__global__ void keepsMuch(const unsigned *x, int n, unsigned *out) {
  unsigned sums[129] = {0};
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'keepsMuch' cannot run in slices along this loop: the kernel has much local memory;
  for (int i = FROM; i < n; i += STEP)
    sums[x[i] % 129] += x[i];
  out[FROM] = sums[n % 129];
}

__global__ void ends(const unsigned *x, int n, unsigned *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'ends' cannot run in slices along this loop: a thread may end anywhere;
  for (int i = FROM; i < n; i += STEP) {
    out[i] = x[i];
    if (x[i] == 7)
      asm volatile("exit;");
  }
}

__device__ __noinline__ void endsIf(bool is) {
  if (is)
    asm volatile("exit;");
}
__global__ void endsInFunction(const unsigned *x, int n, unsigned *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'endsInFunction' cannot run in slices along this loop: a thread may end anywhere;
  for (int i = FROM; i < n; i += STEP) {
    out[i] = x[i];
    endsIf(x[i] == 7);
  }
}

__global__ void movesInShared(const unsigned *x, int n, unsigned *out) {
  __shared__ unsigned part[256];
  unsigned *p = part + threadIdx.x;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'movesInShared' cannot run in slices along this loop: a pointer that it moves, or a value, cannot be kept for the next launch;
  for (int i = FROM; i < n; i += STEP) {
    *p = x[i];
    p = p == part + 255 ? part : p + 1;
  }
  __syncthreads();
  out[FROM] = part[threadIdx.x];
}

__global__ void returnsEarly(const unsigned *x, int n, unsigned *bins) {
  __shared__ unsigned own[64];
  own[threadIdx.x] = 0;
  if (threadIdx.x > 40)
    return;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'returnsEarly' cannot run in slices along this loop: the block has shared memory, and some of its threads may not come to the loop;
  for (int i = FROM; i < n; i += STEP)
    atomicAdd(&own[x[i] % 64], 1u);
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Its shared memory has no contents before the end of the loop.
__global__ void returnsEarlyAndReduces(const unsigned *x, int n, unsigned *out) {
  __shared__ unsigned part[64];
  if (threadIdx.x >= 64)
    return;
  unsigned sum = 0;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'returnsEarlyAndReduces' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    sum += x[i];
  part[threadIdx.x] = sum;
  __syncwarp();
  atomicAdd(out, part[threadIdx.x ^ 1]);
}

// -- What is in front of it: writes, and reads of what changes, happen once

__global__ void writesBefore(const unsigned *x, int n, unsigned *y, unsigned *z) {
  z[FROM] = 1;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'writesBefore' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i];
}

__global__ void countsBefore(const unsigned *x, int n, unsigned *y, unsigned *z) {
  __nvvm_atom_add_gen_i((int *)z, 1);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'countsBefore' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i];
}

__global__ void clearsBefore(const unsigned *x, int n, unsigned *y, unsigned *z) {
  if (threadIdx.x == 0)
    __builtin_memset(z + blockIdx.x * 64, 0, 256);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'clearsBefore' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i];
}

// Threads that do not come to the loop do not wait for its end.
__global__ void writesBeside(const unsigned *x, int n, unsigned *y) {
  if (threadIdx.x % 2) {
    // CHECK: :[[#@LINE+1]]:5: remark: kernel 'writesBeside' can run in slices along this loop:
    for (int i = FROM; i < n; i += STEP)
      y[i] = x[i];
  } else {
    y[FROM] = 1;
  }
}

__global__ void readsWhatItWrites(const unsigned *x, int n, unsigned *y) {
  const unsigned first = y[0];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'readsWhatItWrites' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i] + first;
}

// Where it is not known whether the loop comes before.
__global__ void writesOnTheWay(const unsigned *x, int n, unsigned *y, unsigned *z) {
  if (n > 7) {
    // CHECK: :[[#@LINE+1]]:5: remark: kernel 'writesOnTheWay' cannot run in slices along this loop: what may be in front of it or behind it writes memory;
    for (int i = FROM; i < n; i += STEP)
      y[i] = x[i];
  }
  z[FROM] = 1;
}

// Other launches would decide by what they do not have.
__global__ void decides(const unsigned *x, int n, unsigned *y) {
  const unsigned first = y[0];
  int from = FROM;
  if (first == 7)
    from += 9;
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'decides' cannot run in slices along this loop: what is in front of it reads memory that the kernel may change;
  for (int i = from; i < n; i += STEP)
    y[i] = x[i] + from;
}

__global__ void divides(const unsigned *x, unsigned n, unsigned *y) {
  const unsigned parts = n / y[0];
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'divides' cannot run in slices along this loop: what is in front of it reads memory that the kernel may change;
  for (unsigned i = FROM; i < n; i += STEP)
    y[i] = x[i] + parts;
}

// The order of the threads decides who gets which number.
__global__ void takesNumbers(const unsigned *x, int n, unsigned *y, int *z) {
  const int mine = __nvvm_atom_add_gen_i(z, 1);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'takesNumbers' cannot run in slices along this loop: what is in front of it depends on the order of threads;
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i] + mine;
}

__device__ __noinline__ void putAndKeep(unsigned *to, int *mine) { *to = *mine = 1; }
__global__ void writesOwnInFunction(const unsigned *x, int n, unsigned *y, unsigned *z) {
  int mine;
  putAndKeep(z + FROM, &mine);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'writesOwnInFunction' cannot run in slices along this loop: what is in front of it calls a function that may do more than compute;
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i] + mine;
}

__global__ void prints(const unsigned *x, int n, unsigned *y) {
  printf("%d\n", n);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'prints' cannot run in slices along this loop: what is in front of it calls a function that may do more than compute;
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i];
}

// atomicAdd() is a function.
__global__ void countsInFunction(const unsigned *x, int n, unsigned *y, unsigned *z) {
  atomicAdd(z, 1u);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'countsInFunction' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i];
}

__device__ __noinline__ void put(unsigned *to) { *to = 1; }
__global__ void writesInFunction(const unsigned *x, int n, unsigned *y, unsigned *z) {
  put(z + FROM);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'writesInFunction' can run in slices along this loop:
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i];
}

__global__ void assembly(const unsigned *x, int n, unsigned *y) {
  asm volatile("nanosleep.u32 1;" ::: "memory");
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'assembly' cannot run in slices along this loop: what is in front of it is inline assembly;
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i];
}

struct Large {
  char bytes[32700];
};
__global__ void largeParameter(Large large, const unsigned *x, int n, unsigned *y) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'largeParameter' cannot run in slices along this loop: the kernel's parameters leave no room for the state;
  for (int i = FROM; i < n; i += STEP)
    y[i] = x[i] + large.bytes[0];
}

// -- What is worth nothing is not told

// A slice by blocks has all rows of its threads, one after the other.
__global__ void near(const unsigned *x, int n, unsigned *y) {
  unsigned sum = 0;
  for (int k = 0; k < n; ++k)
    sum += x[FROM * 1024 + k];
  y[FROM] = sum;
}

__global__ void few(const unsigned *x, int n, unsigned *y) {
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 9; ++k)
    sum += x[k * n + FROM];
  y[FROM] = sum;
}

__global__ void oneEach(const unsigned *x, int n, unsigned *y) {
  if (FROM < n)
    y[FROM] = x[FROM];
}

// It may touch anything, however little is asked for.
__global__ void follows(unsigned **list, int n, unsigned *y) {
  for (int i = FROM; i < n; i += STEP)
    *list[i] = y[i];
}

// Rounds of rounds: a launch knows one loop around those that go through the data.
__global__ void repeats(const unsigned *x, int n, int times, unsigned *y) {
  unsigned sum = 0;
  for (int u = 0; u < times; ++u) {
    sum ^= u;
    for (int t = 0; t < times; ++t)
      // CHECK: :[[#@LINE+1]]:7: remark: kernel 'repeats' cannot run in slices along this loop: it is inside of another loop;
      for (int i = FROM; i < n; i += STEP)
        sum = sum * 3 + x[i];
  }
  y[FROM] = sum;
}

// What is in front gives another number in each launch.
__global__ void ticket(const int *x, int n, int *out) {
  __shared__ int next;
  next = 0;
  __syncthreads();
  int mine = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'ticket' cannot run in slices along this loop: what is in front of it depends on the order of threads;
  for (int i = threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[mine] += x[i];
}

__global__ void where(const int *x, int n, int *out) {
  unsigned processor;
  asm("mov.u32 %0, %%smid;" : "=r"(processor));
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'where' cannot run in slices along this loop: what is in front of it reads a clock, or where the thread runs;
  for (int i = threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[processor] += x[i];
}

// A function in the condition that only computes.
__device__ int least(int a, int b) { return a < b ? a : b; }
__global__ void computedBound(const int *x, int n, int m, int *out) {
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'computedBound' can run in slices along this loop:
  for (int i = threadIdx.x; i < least(n, m); i += gridDim.x * blockDim.x)
    out[threadIdx.x] += x[i];
}

// The loop that goes through the data, not the one that fills a table.
__global__ void table(const int *x, const int *coefficients, int n, int *out) {
  __shared__ int own[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    own[i] = coefficients[i];
  __syncthreads();
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'table' can run in slices along this loop:
  for (int i = threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[threadIdx.x] += own[x[i] & 63];
}

// Nor the one behind it, which adds up what the threads found in a table of a
// known size, all blocks in the same places.
__global__ void found(const unsigned *x, long n, unsigned *out) {
  unsigned sums[24] = {1, 2, 3};
  // CHECK: :[[#@LINE+1]]:3: remark: kernel 'found' can run in slices along this loop:
  for (long i = threadIdx.x; i < n; i += blockDim.x)
    sums[x[i] % 24] += x[i];
  for (int r = 0; r < 24; ++r)
    atomicAdd(&out[10 + r % 7], sums[r] >> r % 3);
}
