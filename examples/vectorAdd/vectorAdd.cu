//===- vectorAdd.cu - c = a + b, from files to a file ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simplest streaming program: two vectors of floats are read from files,
// added, and written to a third. Each byte is used once. Plain CUDA: built by
// nvcc it needs device and host memory for all three vectors.
//
//===----------------------------------------------------------------------===//
#include <climits>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                               \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,            \
              cudaGetErrorString(status));                                     \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

__global__ void vectorAdd(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

static size_t parseCount(const char *text) {
  char *end;
  size_t value = strtoull(text, &end, 10);
  if (*end == 'K' || *end == 'M' || *end == 'G') {
    value <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
    end++;
  }
  if (end == text || *end || value == 0) {
    fprintf(stderr, "vectorAdd: bad count '%s'\n", text);
    exit(EXIT_FAILURE);
  }
  return value;
}

static FILE *openFile(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  return file;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: vectorAdd N A B C\n"
                    "adds the N floats in files A and B, writes file C\n");
    return EXIT_FAILURE;
  }
  size_t n = parseCount(argv[1]);
  if (n > INT_MAX) {
    fprintf(stderr, "vectorAdd: at most %d elements\n", INT_MAX);
    return EXIT_FAILURE;
  }
  size_t bytes = n * sizeof(float);

  FILE *fileA = openFile(argv[2], "rb");
  FILE *fileB = openFile(argv[3], "rb");
  FILE *fileC = openFile(argv[4], "wb");

  float *h_A = (float *)malloc(bytes);
  float *h_B = (float *)malloc(bytes);
  float *h_C = (float *)malloc(bytes);
  if (!h_A || !h_B || !h_C) {
    fprintf(stderr, "vectorAdd: no host memory for 3 x %zu bytes\n", bytes);
    return EXIT_FAILURE;
  }

  if (fread(h_A, sizeof(float), n, fileA) != n) {
    fprintf(stderr, "vectorAdd: cannot read %zu floats from %s\n", n, argv[2]);
    return EXIT_FAILURE;
  }
  if (fread(h_B, sizeof(float), n, fileB) != n) {
    fprintf(stderr, "vectorAdd: cannot read %zu floats from %s\n", n, argv[3]);
    return EXIT_FAILURE;
  }
  fclose(fileA);
  fclose(fileB);

  float *d_A, *d_B, *d_C;
  CHECK(cudaMalloc(&d_A, bytes));
  CHECK(cudaMalloc(&d_B, bytes));
  CHECK(cudaMalloc(&d_C, bytes));

  CHECK(cudaMemcpy(d_A, h_A, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_B, h_B, bytes, cudaMemcpyHostToDevice));

  int threads = 256;
  int blocks = (int)((n + threads - 1) / threads);
  vectorAdd<<<blocks, threads>>>(d_A, d_B, d_C, (int)n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(h_C, d_C, bytes, cudaMemcpyDeviceToHost));
  if (fwrite(h_C, sizeof(float), n, fileC) != n) {
    perror(argv[4]);
    return EXIT_FAILURE;
  }
  if (fclose(fileC) != 0) {
    perror(argv[4]);
    return EXIT_FAILURE;
  }

  CHECK(cudaFree(d_A));
  CHECK(cudaFree(d_B));
  CHECK(cudaFree(d_C));
  free(h_A);
  free(h_B);
  free(h_C);
  printf("vectorAdd: added %zu floats\n", n);
  return EXIT_SUCCESS;
}
