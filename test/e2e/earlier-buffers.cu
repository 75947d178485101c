// Buffers that a loop allocates, the earlier ones of which kernels find where no pointer of the host code leads: in device
// memory, in a structure of a variable or on the heap. Each is read once more after the next one was allocated, so none is
// discarded behind the launch that the host code shows last.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon 2>&1 | FileCheck %s
// RUN: for how in 0 1 2 3; do %strict DRAGON_DEVICE_MEMORY=12M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./program $how; done \
// RUN:   | FileCheck %s --check-prefix=SUM
//   Twice each of 1, 2 and 3.
// SUM: {{^}}12{{$}}
// SUM-NEXT: {{^}}12{{$}}
// SUM-NEXT: {{^}}12{{$}}
// SUM-NEXT: {{^}}12{{$}}
// RUN: rm -rf %t.dir
#include <cstdio>
#include <cstdlib>

constexpr int N = 1 << 20, Times = 3;

struct Pair {
  float *before, *out;
  int n, more;
};

__global__ void fill(float *d, float v) {
  d[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void add(const float *d, float *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] += d[i];
}

__global__ void addListed(float **list, float *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] += list[0][i];
}

__global__ void addBefore(Pair pair) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  pair.out[i] += pair.before[i];
}

static void print(float *out) {
  float sum;
  cudaMemcpy(&sum, out, sizeof(sum), cudaMemcpyDeviceToHost);
  printf("%g\n", sum);
}

static float *zeroes() {
  float *out;
  cudaMalloc(&out, N * sizeof(float));
  cudaMemset(out, 0, N * sizeof(float));
  return out;
}

// CHECK-NOT: 'listed' discarded
static void inDeviceMemory() {
  float *out = zeroes(), **list;
  cudaMalloc(&list, sizeof(float *));
  for (int i = 0;; ++i) {
    float *listed;
    cudaMalloc(&listed, N * sizeof(float));
    if (i > 0)
      addListed<<<N / 256, 256>>>(list, out);
    if (i == Times)
      break;
    fill<<<N / 256, 256>>>(listed, i + 1);
    add<<<N / 256, 256>>>(listed, out);
    float *table[1] = {listed};
    cudaMemcpy(list, table, sizeof(table), cudaMemcpyHostToDevice);
  }
  print(out);
}

// CHECK-NOT: 'stored' discarded
static Pair variable;
static void inVariable() {
  float *out = zeroes();
  variable.out = out;
  for (int i = 0;; ++i) {
    float *stored;
    cudaMalloc(&stored, N * sizeof(float));
    if (i > 0)
      addBefore<<<N / 256, 256>>>(variable);
    if (i == Times)
      break;
    fill<<<N / 256, 256>>>(stored, i + 1);
    add<<<N / 256, 256>>>(stored, out);
    variable.before = stored;
  }
  print(out);
}

// CHECK-NOT: 'kept' discarded
static void onHeap() {
  float *out = zeroes();
  Pair *pair = static_cast<Pair *>(malloc(sizeof(Pair)));
  pair->out = out;
  for (int i = 0;; ++i) {
    float *kept;
    cudaMalloc(&kept, N * sizeof(float));
    if (i > 0)
      addBefore<<<N / 256, 256>>>(*pair);
    if (i == Times)
      break;
    fill<<<N / 256, 256>>>(kept, i + 1);
    add<<<N / 256, 256>>>(kept, out);
    pair->before = kept;
  }
  print(out);
}

// One that is freed in the same turn has no earlier ones.
// CHECK: 'freed' discarded after 'add'
static Pair freedOf;
static void freedAtOnce() {
  float *out = zeroes();
  freedOf.out = out;
  for (int i = 0; i < Times; ++i) {
    float *freed;
    cudaMalloc(&freed, N * sizeof(float));
    fill<<<N / 256, 256>>>(freed, i + 1);
    freedOf.before = freed;
    addBefore<<<N / 256, 256>>>(freedOf);
    add<<<N / 256, 256>>>(freed, out);
    fill<<<N / 256, 256>>>(out, 12);
    cudaFree(freed);
  }
  print(out);
}

int main(int, char **argv) {
  switch (atoi(argv[1])) {
  case 0:
    inDeviceMemory();
    break;
  case 1:
    inVariable();
    break;
  case 2:
    onHeap();
    break;
  default:
    freedAtOnce();
  }
}
