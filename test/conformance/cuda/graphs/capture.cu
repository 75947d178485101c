// Graphs by stream capture: kernels, copies, sets, host functions, a fork and a
// join by events; launched several times.
// RUN: %conforms %s
#include "conformance.h"

__global__ void add(int *data, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] += value;
}
__global__ void sum(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a[i] + b[i];
}

static int Calls;

int main() {
  const int n = 1000;
  int *a = onDevice<int>(n), *b = onDevice<int>(n), *out = onDevice<int>(n);
  int *pinned;
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  cudaStream_t stream, other;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(stream, &status));
  REQUIRE(status == cudaStreamCaptureStatusNone);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamIsCapturing(stream, &status));
  REQUIRE(status == cudaStreamCaptureStatusActive);
  add<<<4, 256, 0, stream>>>(a, n, 1);
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  CHECK(cudaMemsetAsync(b, 0, n * sizeof(int), other));
  for (int i = 0; i < 3; ++i)
    add<<<4, 256, 0, other>>>(b, n, 10);
  CHECK(cudaEventRecord(join, other));
  CHECK(cudaStreamWaitEvent(stream, join, 0));
  sum<<<4, 256, 0, stream>>>(a, b, out, n);
  CHECK(cudaMemcpyAsync(pinned, out, n * sizeof(int), cudaMemcpyDeviceToHost,
                        stream));
  CHECK(cudaLaunchHostFunc(stream, [](void *) { ++Calls; }, nullptr));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  // Nothing has run.
  REQUIRE(Calls == 0 && fetch(a, n)[0] == 0);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  REQUIRE(nodes == 8);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 1; i <= 3; ++i) {
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(Calls == i);
    for (int k = 0; k < n; ++k)
      REQUIRE(pinned[k] == i + 30);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  return 0;
}
