// Parameters of nodes by their type, before and after the graph is instantiated: kernels, fills, copies from and to device
// variables, events.
// RUN: %conforms %s
#include "conformance.h"

__device__ int variable[8];

__global__ void set(int *data, int value) { data[threadIdx.x] = value; }

int main() {
  int *d = onDevice<int>(32), *e = onDevice<int>(32);
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  int value = 1;
  void *args[] = {&d, &value};
  cudaGraphNodeParams k{};
  k.type = cudaGraphNodeTypeKernel;
  k.kernel.func = (void *)set;
  k.kernel.gridDim = dim3(1);
  k.kernel.blockDim = dim3(32);
  k.kernel.kernelParams = args;
  cudaGraphNode_t kernel, to, from, record;
  CHECK(cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &k));
  CHECK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, &kernel, 1, variable, d, 16,
                                       0, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, e, variable, 16,
                                         0, cudaMemcpyDeviceToDevice));
  cudaEvent_t first, second;
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&second));
  CHECK(cudaGraphAddEventRecordNode(&record, graph, &from, 1, first));

  // In the graph.
  value = 2;
  CHECK(cudaGraphNodeSetParams(kernel, &k));
  CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(to, variable, d, 16, 16,
                                             cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, e, variable, 16, 16,
                                               cudaMemcpyDeviceToDevice));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, 0));
  auto h = fetch(e, 32);
  REQUIRE(h[0] == 2 && h[3] == 2 && h[4] == 0);
  CHECK(cudaEventQuery(first));

  // In the instance.
  value = 3;
  CHECK(cudaGraphExecNodeSetParams(exec, kernel, &k));
  CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable, d, 16, 0,
                                                 cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(
      exec, from, e + 8, variable, 16, 0, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, second));
  CHECK(cudaGraphLaunch(exec, 0));
  h = fetch(e, 32);
  REQUIRE(h[0] == 2 && h[8] == 3 && h[11] == 3 && h[12] == 0);
  CHECK(cudaEventSynchronize(second));

  // Parts that the variable does not have.
  REFUSED(cudaErrorInvalidValue,
          cudaGraphMemcpyNodeSetParamsToSymbol(to, variable, d, 16, 24,
                                               cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  return 0;
}
