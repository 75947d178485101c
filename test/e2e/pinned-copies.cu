// Copies to the device of memory that the program pinned are made when kernels need them, as long as the device has not been given
// that memory: it raises no signal when it writes. Whatever happens to the memory, kernels see the bytes of the call.
// RUN: %build %s -o %t
// RUN: for case in reread changed freed freedLater byChild copiedBack copiedBackByRows zeroCopy zeroCopyBefore byDevicePointer \
// RUN:   throughMemory filledByDevice registered rereadRegistered \
// RUN:   unregistered writeCombined captured reset asynchronous rereadAsynchronous; do \
// RUN:   %plain %t $case && %tight DRAGON_HOST_MEMORY=64M %t $case && %tight %t $case && %tight DRAGON_PROTECT=0 %t $case \
// RUN:   || { echo $case; exit 1; }; done
// RUN: for case in reread rereadRegistered rereadAsynchronous; do \
// RUN:   %tight DRAGON_HOST_MEMORY=64M DRAGON_STATS=%t.json %t $case && \
// RUN:   %ledger %t.json 'avoided_deferred_copies == 12*M' 'device_to_host < K' \
// RUN:   || { echo $case; exit 1; }; done
// RUN: for case in zeroCopyBefore byDevicePointer writeCombined; do \
// RUN:   %tight DRAGON_HOST_MEMORY=64M DRAGON_STATS=%t.json %t $case && %ledger %t.json 'avoided_deferred_copies == 0' \
// RUN:   || { echo $case; exit 1; }; done
// RUN: rm %t %t.json
#include "sums.h"
#include <functional>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t *pinned(uint32_t first, unsigned flags = cudaHostAllocDefault) {
  uint32_t *h;
  CHECK(cudaHostAlloc(&h, Bytes, flags));
  refill(h, first);
  return h;
}

__global__ void clear(uint32_t *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 0;
}
static void clearAll(uint32_t *out) {
  clear<<<N / 256, 256>>>(out);
  CHECK(cudaDeviceSynchronize());
}

struct Place {
  uint32_t *memory;
};
__global__ void clearAt(const Place *place) {
  place->memory[blockIdx.x * blockDim.x + threadIdx.x] = 0;
}

static void use(const uint32_t *h, bool async) {
  Sums d;
  if (async)
    CHECK(cudaMemcpyAsync(d.in, h, Bytes, cudaMemcpyHostToDevice));
  else
    d.copyIn(h);
  for (int round = 0; round < 3; ++round)
    REQUIRE(d.has(1));
  REQUIRE(h[5] == 6); // to read it does no harm
}
static void reread() {
  uint32_t *h = pinned(1);
  use(h, false);
  CHECK(cudaFreeHost(h));
}
static void rereadAsynchronous() {
  uint32_t *h = pinned(1);
  use(h, true);
  CHECK(cudaFreeHost(h));
}
static void rereadRegistered() {
  auto *h = static_cast<uint32_t *>(allocate(Bytes));
  refill(h, 1);
  CHECK(cudaHostRegister(h, Bytes, cudaHostRegisterDefault));
  use(h, false);
  CHECK(cudaHostUnregister(h));
  release(h);
}

static void changed() {
  Sums d;
  uint32_t *h = pinned(2);
  d.copyIn(h);
  h[N / 2] = 12345;
  REQUIRE(d.has(2) && h[N / 2] == 12345);
  refill(h, 77);
  REQUIRE(d.has(2) && h[N - 1] == 77 + (N - 1) % 16);
  d.copyIn(h);
  memset(h, 0, Bytes);
  REQUIRE(d.has(77));
  CHECK(cudaFreeHost(h));
}

static void freed() {
  Sums d;
  uint32_t *h = pinned(3);
  d.copyIn(h);
  CHECK(cudaFreeHost(h));
  uint32_t *next = pinned(1000);
  REQUIRE(d.has(3));
  CHECK(cudaFreeHost(next));
}

static void freedLater() {
  Sums d, other;
  for (uint32_t round = 0; round < 4; ++round) {
    uint32_t *h = pinned(round);
    (round % 2 ? d : other).copyIn(h);
    REQUIRE((round % 2 ? d : other).has(round));
    CHECK(cudaFreeHost(h));
  }
  REQUIRE(d.has(3) && other.has(2));
}

/// A child may share the memory.
static void byChild() {
  Sums d;
  uint32_t *h = pinned(4);
  d.copyIn(h);
  const pid_t child = fork();
  if (child == 0) {
    memset(h, 1, Bytes);
    _exit(h[7] == 0x01010101 ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(d.has(4));
  CHECK(cudaFreeHost(h));
}

static void copiedBack() {
  Sums d, other;
  uint32_t *h = pinned(5), *g = pinned(6);
  d.copyIn(h);
  other.copyIn(g);
  CHECK(cudaMemcpy(h, other.in, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(h[1] == 7 && d.has(5) && other.has(6));
  CHECK(cudaMemcpyAsync(g, d.in, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceSynchronize());
  REQUIRE(g[1] == 6 && d.has(5) && other.has(6));
  // A small copy, and one of what was copied to before.
  d.copyIn(g);
  CHECK(cudaMemcpy(g, other.in + 2, 8, cudaMemcpyDeviceToHost));
  REQUIRE(g[0] == 8 && d.has(5));
  CHECK(cudaFreeHost(h));
  CHECK(cudaFreeHost(g));
}

static void copiedBackByRows() {
  Sums d, other;
  uint32_t *h = pinned(7), *g = pinned(8);
  d.copyIn(h);
  other.copyIn(g);
  CHECK(cudaMemcpy2D(h, 4096, other.in, 4096, 2048, Bytes / 4096,
                     cudaMemcpyDeviceToHost));
  REQUIRE(h[1] == 9 && h[513] == 8 && d.has(7));
  CHECK(cudaFreeHost(h));
  CHECK(cudaFreeHost(g));
}

/// A kernel writes to it.
static void zeroCopy() {
  Sums d;
  uint32_t *h = pinned(9);
  d.copyIn(h);
  clearAll(h);
  REQUIRE(h[N / 2] == 0 && d.has(9));
  CHECK(cudaFreeHost(h));
}

static void zeroCopyBefore() {
  Sums d;
  uint32_t *h = pinned(10);
  clearAll(h);
  refill(h, 11);
  d.copyIn(h);
  REQUIRE(d.has(11));
  clearAll(h);
  REQUIRE(h[N / 2] == 0 && d.has(11));
  CHECK(cudaFreeHost(h));
}

static void byDevicePointer() {
  Sums d;
  uint32_t *h = pinned(12, cudaHostAllocMapped), *onDevice;
  CHECK(cudaHostGetDevicePointer(&onDevice, h, 0));
  d.copyIn(h);
  REQUIRE(d.has(12));
  clearAll(onDevice);
  REQUIRE(h[N / 2] == 0 && d.has(12));
  CHECK(cudaFreeHost(h));
}

/// The kernel finds the address in memory.
static void throughMemory() {
  Sums d;
  Place *place;
  uint32_t *h = pinned(13);
  const Place is = {h};
  CHECK(cudaMalloc(&place, sizeof is));
  CHECK(cudaMemcpy(place, &is, sizeof is, cudaMemcpyHostToDevice));
  d.copyIn(h);
  clearAt<<<N / 256, 256>>>(place);
  CHECK(cudaDeviceSynchronize());
  REQUIRE(h[N / 2] == 0 && d.has(13));
  CHECK(cudaFree(place));
  CHECK(cudaFreeHost(h));
}

static void filledByDevice() {
  Sums d;
  uint32_t *h = pinned(14);
  d.copyIn(h);
  CHECK(cudaMemset(h, 0, Bytes));
  CHECK(cudaDeviceSynchronize());
  REQUIRE(h[N / 2] == 0 && d.has(14));
  d.copyIn(h);
  CHECK(cudaMemset2D(h, 4096, 1, 4, 16));
  CHECK(cudaDeviceSynchronize());
  REQUIRE(h[1024] == 0x01010101);
  CHECK(cudaFreeHost(h));
}

static void registered() {
  Sums d;
  auto *h = static_cast<uint32_t *>(allocate(Bytes));
  refill(h, 15);
  CHECK(cudaHostRegister(h, Bytes, cudaHostRegisterDefault));
  d.copyIn(h);
  refill(h, 16);
  REQUIRE(d.has(15));
  d.copyIn(h);
  clearAll(h);
  REQUIRE(h[N / 2] == 0 && d.has(16));
  CHECK(cudaHostUnregister(h));
  release(h);
}

static void unregistered() {
  Sums d;
  auto *h = static_cast<uint32_t *>(allocate(Bytes));
  refill(h, 17);
  CHECK(cudaHostRegister(h, Bytes, cudaHostRegisterDefault));
  d.copyIn(h);
  CHECK(cudaHostUnregister(h));
  refill(h, 18);
  REQUIRE(d.has(17));
  d.copyIn(h);
  release(h);
  REQUIRE(d.has(18));
}

static void writeCombined() {
  Sums d;
  uint32_t *h = pinned(19, cudaHostAllocWriteCombined);
  d.copyIn(h);
  REQUIRE(d.has(19));
  refill(h, 20);
  REQUIRE(d.has(19));
  CHECK(cudaFreeHost(h));
}

/// A graph has addresses of its own.
static void captured() {
  Sums d;
  uint32_t *h = pinned(21);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  clear<<<N / 256, 256, 0, stream>>>(h);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  d.copyIn(h);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(h[N / 2] == 0 && d.has(21));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(h));
}

static void reset() {
  uint32_t *in, *h = pinned(22);
  CHECK(cudaMalloc(&in, Bytes));
  CHECK(cudaMemcpy(in, h, Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceReset());
  changed();
}

static void asynchronous() {
  Sums d;
  uint32_t *h = pinned(23);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyAsync(d.in, h, Bytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaStreamSynchronize(stream));
  refill(h, 24);
  REQUIRE(d.has(23));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(h));
}

int main(int, char **argv) {
  const std::map<std::string, std::function<void()>> cases = {
      {"reread", reread},
      {"rereadAsynchronous", rereadAsynchronous},
      {"rereadRegistered", rereadRegistered},
      {"changed", changed},
      {"freed", freed},
      {"freedLater", freedLater},
      {"byChild", byChild},
      {"copiedBack", copiedBack},
      {"copiedBackByRows", copiedBackByRows},
      {"zeroCopy", zeroCopy},
      {"zeroCopyBefore", zeroCopyBefore},
      {"byDevicePointer", byDevicePointer},
      {"throughMemory", throughMemory},
      {"filledByDevice", filledByDevice},
      {"registered", registered},
      {"unregistered", unregistered},
      {"writeCombined", writeCombined},
      {"captured", captured},
      {"reset", reset},
      {"asynchronous", asynchronous},
  };
  const auto found = cases.find(argv[1]);
  if (found == cases.end())
    return 2;
  found->second();
  return 0;
}
