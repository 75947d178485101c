// Graphs built node by node: kernel, copy, set, host, empty and child nodes,
// dependencies, clones, and what can be asked of them.
// RUN: %conforms %s
#include "conformance.h"

__global__ void scale(int *data, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = data[i] * by + i;
}

static int Calls;

int main() {
  const int n = 500;
  int *d;
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  std::vector<int> in(n, 2), out(n);
  cudaGraph_t graph, child;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&child, 0));

  cudaGraphNode_t copyIn, kernel, copyOut, host, empty, inner, childNode;
  CHECK(cudaGraphAddMemcpyNode1D(&copyIn, graph, nullptr, 0, d, in.data(),
                                 n * sizeof(int), cudaMemcpyHostToDevice));
  int by = 3, size = n;
  void *args[] = {&d, &size, &by};
  cudaKernelNodeParams k{};
  k.func = (void *)scale;
  k.gridDim = dim3(2);
  k.blockDim = dim3(256);
  k.kernelParams = args;
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &copyIn, 1, &k));
  by = 100; // parameters were copied
  // The child: scale by 10.
  int ten = 10;
  void *childArgs[] = {&d, &size, &ten};
  k.kernelParams = childArgs;
  CHECK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &k));
  CHECK(cudaGraphAddChildGraphNode(&childNode, graph, &kernel, 1, child));
  cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeEmpty;
  CHECK(cudaGraphAddNode(&empty, graph, &childNode, nullptr, 1, &any));
  cudaMemcpy3DParms c{};
  c.srcPtr = make_cudaPitchedPtr(d, n * sizeof(int), n, 1);
  c.dstPtr = make_cudaPitchedPtr(out.data(), n * sizeof(int), n, 1);
  c.extent = make_cudaExtent(n * sizeof(int), 1, 1);
  c.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaGraphAddMemcpyNode(&copyOut, graph, &empty, 1, &c));
  cudaHostNodeParams h{};
  h.fn = [](void *by) { Calls += *static_cast<int *>(by); };
  int two = 2;
  h.userData = &two;
  CHECK(cudaGraphAddHostNode(&host, graph, nullptr, 0, &h));
  CHECK(cudaGraphAddDependencies(graph, &copyOut, &host, nullptr, 1));

  size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  REQUIRE(count == 6);
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &count));
  REQUIRE(count == 1);
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  REQUIRE(count == 5);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(kernel, &type));
  REQUIRE(type == cudaGraphNodeTypeKernel);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, 0));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    REQUIRE(out[i] == (2 * 3 + i) * 10 + i);
  REQUIRE(Calls == 2);
  cudaGraph_t clone;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphDestroy(graph));
  cudaGraphExec_t again;
  CHECK(cudaGraphInstantiate(&again, clone, 0));
  CHECK(cudaGraphLaunch(again, 0));
  CHECK(cudaDeviceSynchronize());
  REQUIRE(Calls == 4);
  CHECK(cudaGraphExecDestroy(again));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(child));
  return 0;
}
