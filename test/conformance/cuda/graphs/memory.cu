// Memory that a graph allocates is freed by the program, by another graph or by
// itself; it is at the same address in the next launch, and outlives its graph.
// A captured stream's allocations are such memory.
// RUN: %conforms %s
#include "conformance.h"

__global__ void count(int *data) { data[threadIdx.x] = threadIdx.x + 1; }

static int at(const int *data, int i) {
  int value = 0;
  CHECK(cudaMemcpy(&value, data + i, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

int main() {
  const size_t bytes = 1 << 20;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph, freeing;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams params{};
  params.bytesize = bytes;
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  cudaGraphNode_t alloc, kernel, free;
  CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  int *memory = static_cast<int *>(params.dptr);
  void *args[] = {&memory};
  cudaKernelNodeParams k{};
  k.func = (void *)count;
  k.gridDim = dim3(1);
  k.blockDim = dim3(64);
  k.kernelParams = args;
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &alloc, 1, &k));
  cudaGraphExec_t exec, execOfFree;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphCreate(&freeing, 0));
  CHECK(cudaGraphAddMemFreeNode(&free, freeing, nullptr, 0, memory));
  CHECK(cudaGraphInstantiate(&execOfFree, freeing, 0));

  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(at(memory, 63) == 64);
  CHECK(cudaFree(memory));
  // Somebody else's memory now, and not where the graph's is.
  int *other;
  CHECK(cudaMalloc(&other, bytes));
  CHECK(cudaMemset(other, 0, bytes));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaFreeAsync(memory, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(execOfFree, stream));
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(at(other, 63) == 0);

  // What a launch has allocated stays when the graph goes.
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphExecDestroy(execOfFree));
  CHECK(cudaGraphDestroy(freeing));
  REQUIRE(at(memory, 5) == 6);
  CHECK(cudaFree(memory));
  REQUIRE(at(other, 5) == 0);
  CHECK(cudaFree(other));

  // By capture: each launch allocates and frees it.
  int *inside, *host;
  CHECK(cudaMallocHost(&host, bytes));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&inside, bytes, stream));
  count<<<1, 64, 0, stream>>>(inside);
  CHECK(cudaMemcpyAsync(host, inside, 64 * sizeof(int), cudaMemcpyDeviceToHost,
                        stream));
  CHECK(cudaFreeAsync(inside, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int launch = 0; launch < 2; ++launch) {
    for (int i = 0; i < 64; ++i)
      host[i] = 0;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 64; ++i)
      REQUIRE(host[i] == i + 1);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
