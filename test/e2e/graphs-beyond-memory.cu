// Graphs whose buffers do not fit into device memory run node by node, with the results of the run in core: captured and
// built by hand, changed, updated, within each other; also copies and fills of memory that is not on the device when they
// are captured.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program && %tight ./program && %roomy ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <algorithm>

const int n = 3 << 20; // 12 MiB in each of six buffers
const size_t bytes = (size_t)n * 4;
const size_t copied =
    2 << 20; // bytes: the memory of one copy or fill has to fit

__global__ void fill(uint32_t *data, int n, uint32_t seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(i + seed);
}

__global__ void add(const uint32_t *a, const uint32_t *b, uint32_t *out, int n,
                    uint32_t more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a[i] * 3 + b[i] + more;
}

static uint32_t *buffer[6];
static int calls;

static void count(void *) { ++calls; }

static void launchAdd(int a, int b, int out, uint32_t more,
                      cudaStream_t stream) {
  add<<<n / 256, 256, 0, stream>>>(buffer[a], buffer[b], buffer[out], n, more);
  CHECK(cudaGetLastError());
}

// What the host expects.
struct Host {
  std::vector<uint32_t> data[6];
  Host() {
    for (int k = 0; k < 6; ++k) {
      data[k].resize(n);
      for (int i = 0; i < n; ++i)
        data[k][i] = scramble(i + 7 * k);
    }
  }
  void add(int a, int b, int out, uint32_t more) {
    for (int i = 0; i < n; ++i)
      data[out][i] = data[a][i] * 3 + data[b][i] + more;
  }
  void copy(int to, int from, size_t bytes) {
    std::copy_n(data[from].begin(), bytes / 4, data[to].begin());
  }
  void set(int to, int first, int count, uint32_t value) {
    std::fill_n(data[to].begin() + first, count, value);
  }
  void check(const char *where) {
    std::vector<uint32_t> got(n);
    for (int k = 0; k < 6; ++k) {
      CHECK(cudaMemcpy(got.data(), buffer[k], bytes, cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; ++i)
        if (got[i] != data[k][i]) {
          fprintf(stderr, "%s: buffer %d differs at %d: %u, not %u\n", where, k,
                  i, got[i], data[k][i]);
          exit(1);
        }
    }
  }
};

// One step, as a program issues it and as the host computes it.
static void capturedStep(cudaStream_t stream, cudaStream_t other,
                         cudaEvent_t fork, cudaEvent_t join, uint32_t more) {
  launchAdd(0, 1, 2, more, stream);
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  launchAdd(2, 3, 4, more + 1, other);
  CHECK(cudaMemcpyAsync(buffer[5], buffer[2], copied, cudaMemcpyDeviceToDevice,
                        stream));
  CHECK(cudaMemset2DAsync(buffer[5] + 1024, 4096, 0x11, 2048, 100, stream));
  CHECK(cudaEventRecord(join, other));
  CHECK(cudaStreamWaitEvent(stream, join, 0));
  launchAdd(4, 5, 0, more + 2, stream);
  CHECK(cudaLaunchHostFunc(stream, count, nullptr));
  CHECK(cudaMemsetAsync(buffer[1], 3, 1 << 20, stream));
}
static void hostStep(Host &host, uint32_t more) {
  host.add(0, 1, 2, more);
  host.add(2, 3, 4, more + 1);
  host.copy(5, 2, copied);
  for (int row = 0; row < 100; ++row)
    host.set(5, 1024 + row * 1024, 512, 0x11111111);
  host.add(4, 5, 0, more + 2);
  host.set(1, 0, (1 << 20) / 4, 0x03030303);
}

static cudaGraph_t capture(cudaStream_t stream, cudaStream_t other,
                           cudaEvent_t fork, cudaEvent_t join, uint32_t more) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  capturedStep(stream, other, fork, join, more);
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

int main() {
  cudaStream_t stream, other;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  Host host;
  for (int k = 0; k < 6; ++k) {
    CHECK(cudaMalloc(&buffer[k], bytes));
    fill<<<n / 256, 256>>>(buffer[k], n, 7 * k);
  }
  CHECK(cudaDeviceSynchronize());

  // Captured; launched again and again.
  cudaGraph_t graph = capture(stream, other, fork, join, 10);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaGraphLaunch(exec, stream));
    hostStep(host, 10);
  }
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(calls == 2);
  host.check("captured");

  // The next capture is what the same instance does from then on.
  cudaGraph_t next = capture(stream, other, fork, join, 1000);
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, next, &info));
  REQUIRE(info.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphLaunch(exec, stream));
  hostStep(host, 1000);
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(calls == 3);
  host.check("updated");

  // By hand: a kernel, a copy behind it, and the captured graph as a node; then other parameters and a node that is off.
  cudaGraph_t made;
  CHECK(cudaGraphCreate(&made, 0));
  cudaGraphNode_t kernel, copy, child;
  int size = n;
  uint32_t more = 5;
  void *args[] = {&buffer[3], &buffer[4], &buffer[2], &size, &more};
  cudaKernelNodeParams params{};
  params.func = (void *)add;
  params.gridDim = dim3(n / 256);
  params.blockDim = dim3(256);
  params.kernelParams = args;
  CHECK(cudaGraphAddKernelNode(&kernel, made, nullptr, 0, &params));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, made, &kernel, 1, buffer[3], buffer[2],
                                 copied, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphAddChildGraphNode(&child, made, &copy, 1, next));
  cudaGraphExec_t whole;
  CHECK(cudaGraphInstantiate(&whole, made, 0));
  auto hostMade = [&](uint32_t more, size_t copied) {
    host.add(3, 4, 2, more);
    host.copy(3, 2, copied);
    hostStep(host, 1000);
  };
  CHECK(cudaGraphLaunch(whole, stream));
  hostMade(5, copied);
  host.check("made by hand");
  more = 99;
  CHECK(cudaGraphExecKernelNodeSetParams(whole, kernel, &params));
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(
      whole, copy, buffer[3], buffer[2], copied / 4, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphLaunch(whole, stream));
  hostMade(99, copied / 4);
  host.check("other parameters");
  CHECK(cudaGraphNodeSetEnabled(whole, copy, 0));
  CHECK(cudaGraphLaunch(whole, stream));
  hostMade(99, 0);
  host.check("a node that is off");

  // A buffer goes and another one comes, where the graph does not look.
  CHECK(cudaStreamSynchronize(stream));
  uint32_t *later;
  CHECK(cudaMalloc(&later, bytes));
  fill<<<n / 256, 256>>>(later, n, 1);
  CHECK(cudaGraphLaunch(exec, stream));
  hostStep(host, 1000);
  CHECK(cudaFree(later));
  host.check("another buffer");

  CHECK(cudaGraphExecDestroy(whole));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(made));
  CHECK(cudaGraphDestroy(next));
  for (uint32_t *memory : buffer)
    CHECK(cudaFree(memory));
  return 0;
}
