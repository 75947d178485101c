// Instantiated graphs change: parameters of single nodes, and whole updates.
// RUN: %conforms %s
#include "conformance.h"

__global__ void set(int *data, int value) { data[threadIdx.x] = value; }

int main() {
  int *d = onDevice<int>(32);
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  int value = 1;
  void *args[] = {&d, &value};
  cudaKernelNodeParams k{};
  k.func = (void *)set;
  k.gridDim = dim3(1);
  k.blockDim = dim3(32);
  k.kernelParams = args;
  cudaGraphNode_t kernel, fill;
  cudaMemsetParams m{};
  m.dst = d, m.value = 0, m.elementSize = 4, m.width = 32, m.height = 1;
  CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &m));
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &k));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, 0));
  REQUIRE(fetch(d, 32)[31] == 1);
  value = 5;
  k.blockDim = dim3(8);
  CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
  m.value = 77;
  CHECK(cudaGraphExecMemsetNodeSetParams(exec, fill, &m));
  CHECK(cudaGraphLaunch(exec, 0));
  auto h = fetch(d, 32);
  REQUIRE(h[7] == 5 && h[8] == 77);
  // The graph itself has not changed.
  cudaKernelNodeParams got;
  CHECK(cudaGraphKernelNodeGetParams(kernel, &got));
  REQUIRE(got.blockDim.x == 32);
  value = 6;
  k.blockDim = dim3(16);
  CHECK(cudaGraphKernelNodeSetParams(kernel, &k));
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, graph, &info));
  REQUIRE(info.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphLaunch(exec, 0));
  h = fetch(d, 32);
  REQUIRE(h[15] == 6 && h[16] == 0);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  return 0;
}
