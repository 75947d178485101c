// Layers of products by cuBLAS and cuBLASLt: y_l = W_l x_l for a batch, x_(l+1) = y_l / 32. The matrices are found by pointers in
// device memory, which a kernel writes in front of each layer. The layers run as they are, then captured in a graph, several times.
//
//   layers LAYERS ROUNDS
//
// Prints a hash of what each round leaves.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

constexpr int N = 1024, Columns = 64, Batch = 2; // a layer: two of 4 MiB

__global__ void fill(float *to, int seed) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  to[i] = float(int((i * 31 + seed * 17) % 201) - 100) / 100;
}

__global__ void tabulate(float **w, float **x, float **y, float *weights,
                         float *from, float *to) {
  const int b = threadIdx.x;
  w[b] = weights + b * size_t(N) * N;
  x[b] = from + b * N * Columns;
  y[b] = to + b * N * Columns;
}

__global__ void shrink(float *x, const float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = y[i] / 32;
}

struct Network {
  int layers;
  float *weights, *x, *y;
  float **tables; // of w, x and y
  cublasHandle_t blas;
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t square, slim;
  float one = 1, zero = 0;

  float *layer(int l) const { return weights + size_t(l) * Batch * N * N; }

  void run(cudaStream_t stream) {
    CHECK(cublasSetStream(blas, stream));
    for (int l = 0; l < layers; ++l) {
      float **w = tables, **from = tables + Batch, **to = tables + 2 * Batch;
      tabulate<<<1, Batch, 0, stream>>>(w, from, to, layer(l), x, y);
      CHECK(cublasSgemmBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, Columns, N,
                               &one, w, N, from, N, &zero, to, N, Batch));
      shrink<<<Batch * N * Columns / 256, 256, 0, stream>>>(x, y);
      // Once more the first of the two, by its layout.
      CHECK(cublasLtMatmul(lt, product, &one, layer(l), square, x, slim, &zero,
                           y, slim, y, slim, nullptr, nullptr, 0, stream));
      shrink<<<N * Columns / 256, 256, 0, stream>>>(x, y);
    }
  }
};

static unsigned long long hashOf(const float *x) {
  std::vector<unsigned> words(Batch * N * Columns);
  CHECK(cudaMemcpy(words.data(), x, words.size() * 4, cudaMemcpyDeviceToHost));
  unsigned long long hash = 14695981039346656037ull;
  for (unsigned word : words)
    hash = (hash ^ word) * 1099511628211ull;
  return hash;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: layers LAYERS ROUNDS\n");
    return 2;
  }
  Network net;
  net.layers = atoi(arguments[1]);
  const int rounds = atoi(arguments[2]);
  const size_t words = size_t(net.layers) * Batch * N * N;
  CHECK(cudaMalloc(&net.weights, words * sizeof(float)));
  CHECK(cudaMalloc(&net.x, Batch * N * Columns * sizeof(float)));
  CHECK(cudaMalloc(&net.y, Batch * N * Columns * sizeof(float)));
  CHECK(cudaHostAlloc(&net.tables, 3 * Batch * sizeof(float *),
                      cudaHostAllocMapped));
  for (int l = 0; l < net.layers; ++l)
    fill<<<Batch * N * N / 256, 256>>>(net.layer(l), l);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cublasCreate(&net.blas));
  void *workspace;
  constexpr size_t WorkspaceBytes = 4 << 20;
  CHECK(cudaMalloc(&workspace, WorkspaceBytes));
  CHECK(cublasSetWorkspace(net.blas, workspace, WorkspaceBytes));
  CHECK(cublasLtCreate(&net.lt));
  CHECK(cublasLtMatmulDescCreate(&net.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  CHECK(cublasLtMatrixLayoutCreate(&net.square, CUDA_R_32F, N, N, N));
  CHECK(cublasLtMatrixLayoutCreate(&net.slim, CUDA_R_32F, N, Columns, N));
  auto begin = [&] {
    fill<<<Batch * N * Columns / 256, 256, 0, stream>>>(net.x, 99);
  };
  for (int round = 0; round < rounds; ++round) {
    begin();
    net.run(stream);
    CHECK(cudaStreamSynchronize(stream));
    printf("called   %016llx\n", hashOf(net.x));
  }
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  net.run(stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < rounds; ++round) {
    begin();
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("captured %016llx\n", hashOf(net.x));
  }
  return 0;
}
