// Relocatable device code: kernels call functions and use variables of other units, and what they touch is decided there.
// More data than the device holds: without summaries of the linked code nothing would run. Static names occur twice.
//
// Compiled and linked at once:
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %bytes in.bin 12M separable
// RUN: %build -rdc=true -I%S/Inputs/separable %s %S/Inputs/separable/elements.cu %S/Inputs/separable/steps.cu -o program
// RUN: %roomy DRAGON_STATS=stats.json ./program in.bin
// RUN: %ledger stats.json 'launches == 4' 'slices > 4'
//
// Objects, without -rdc or -arch for the link:
// RUN: for unit in %s %S/Inputs/separable/*.cu; do %build -dc -I%S/Inputs/separable $unit || exit 1; done
// RUN: %build separable.o elements.o steps.o -o objects
// RUN: %roomy ./objects in.bin
//
// An archive, from which the linkers take what they need:
// RUN: ar rcs libunits.a unused.o elements.o steps.o
// RUN: %build separable.o -L. -lunits -o archive
// RUN: %roomy ./archive in.bin
//
// Another linker for the host's side, after -dlink; also where ours finds device code that has been linked already:
// RUN: %build -dlink separable.o elements.o steps.o -o linked.o
// RUN: %host-build separable.o elements.o steps.o linked.o -L%libdir -ldragonrt -Wl,-rpath,%libdir -o apart
// RUN: %roomy ./apart in.bin
// RUN: %build separable.o elements.o steps.o linked.o -o twice
// RUN: %roomy ./twice in.bin
//
// One object of all:
// RUN: ld -r separable.o elements.o steps.o -o all.o && %build all.o -o one
// RUN: %roomy ./one in.bin
//
// A shared library with a device link of its own:
// RUN: %build -rdc=true -Xcompiler -fPIC -shared -I%S/Inputs/separable %S/Inputs/separable/elements.cu %S/Inputs/separable/steps.cu \
// RUN:   %S/Inputs/separable/library.cu -o libsteps.so
// RUN: %build -rdc=true -I%S/Inputs/separable -DLIBRARY %s -L. -lsteps -Xlinker -rpath=. -o shared
// RUN: %roomy ./shared in.bin
// RUN: rm -rf %t.dir
#include "elements.h"

static __constant__ uint32_t offset = 5;
static __device__ uint32_t calls;

#ifdef LIBRARY
void forward(uint32_t *out, const uint32_t *in, int n);
#else
__global__ void forwardKernel(uint32_t *out, const uint32_t *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    store(out, i, element(in, i));
}

static void forward(uint32_t *out, const uint32_t *in, int n) {
  forwardKernel<<<(n + 255) / 256, 256>>>(out, in, n);
}
#endif

static __global__ void step(uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] ^= offset;
  if (i == 0)
    atomicAdd(&calls, 2);
}

int main(int, char **argv) {
  std::vector<uint32_t> h = slurp(argv[1]), result(h.size());
  const int n = h.size();
  const size_t bytes = n * sizeof(uint32_t);
  uint32_t *in, *out;
  CHECK(cudaMalloc((void **)&in, bytes));
  CHECK(cudaMalloc((void **)&out, bytes));
  CHECK(cudaMemcpy(in, h.data(), bytes, cudaMemcpyHostToDevice));

  forward(out, in, n);
  CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    REQUIRE(result[i] == h[i] * (i % 4 + 1) + 11);

  // Variables of other units, written by the host of any.
  uint32_t newBias = 1000;
  CHECK(cudaMemcpyToSymbol(bias, &newBias, sizeof(newBias)));
  setFactor(2, 50);
  const uint32_t factors[] = {1, 2, 50, 4};
  scale<<<(n + 255) / 256, 256>>>(out, in, n);
  step<<<(n + 255) / 256, 256>>>(out, n);
  secondStep(out, n, 77);
  CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    int from = n - 1 - i;
    REQUIRE(result[i] == ((h[from] * factors[from & 3] + 1000) ^ 5) + 77);
  }

  unsigned long long count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, visited, sizeof(count)));
  REQUIRE(count == 2 * ((n + 1023) / 1024));
  uint32_t mine = 0;
  CHECK(cudaMemcpyFromSymbol(&mine, calls, sizeof(mine)));
  REQUIRE(mine == 2);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return 0;
}
