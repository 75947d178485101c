//===- BlackScholes.cu - option prices, from files to files ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// European call and put options after Black and Scholes (1973): three input
// files (stock price, strike price, years to expiry), two output files. Like
// vectorAdd it streams, with more arithmetic and a grid-stride loop, so that
// the number of options is not limited by the grid or by int.
//
//===----------------------------------------------------------------------===//
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

const float RiskFree = 0.02f;
const float Volatility = 0.30f;

__device__ float normalCdf(float d) { return 0.5f * erfcf(-0.70710678f * d); }

__device__ void price(float stock, float strike, float years, float riskFree,
                      float volatility, float &call, float &put) {
  float deviation = volatility * sqrtf(years);
  float d1 = (logf(stock / strike) +
              (riskFree + 0.5f * volatility * volatility) * years) /
             deviation;
  float d2 = d1 - deviation;
  float discounted = strike * expf(-riskFree * years);
  call = stock * normalCdf(d1) - discounted * normalCdf(d2);
  put = discounted * normalCdf(-d2) - stock * normalCdf(-d1);
}

__global__ void blackScholes(float *call, float *put, const float *stock,
                             const float *strike, const float *years, size_t n,
                             float riskFree, float volatility) {
  size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += stride)
    price(stock[i], strike[i], years[i], riskFree, volatility, call[i], put[i]);
}

static size_t parseCount(const char *text) {
  char *end;
  size_t value = strtoull(text, &end, 10);
  if (*end == 'K' || *end == 'M' || *end == 'G') {
    value <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
    end++;
  }
  if (end == text || *end || value == 0) {
    fprintf(stderr, "BlackScholes: bad count '%s'\n", text);
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
  if (argc != 7) {
    fprintf(stderr, "usage: BlackScholes N STOCK STRIKE YEARS CALL PUT\n"
                    "prices N options: reads three files of N floats, writes "
                    "two\n");
    return EXIT_FAILURE;
  }
  size_t n = parseCount(argv[1]);
  size_t bytes = n * sizeof(float);

  FILE *stockFile = openFile(argv[2], "rb");
  FILE *strikeFile = openFile(argv[3], "rb");
  FILE *yearsFile = openFile(argv[4], "rb");
  FILE *callFile = openFile(argv[5], "wb");
  FILE *putFile = openFile(argv[6], "wb");

  float *h_stock = (float *)malloc(bytes);
  float *h_strike = (float *)malloc(bytes);
  float *h_years = (float *)malloc(bytes);
  float *h_call = (float *)malloc(bytes);
  float *h_put = (float *)malloc(bytes);
  if (!h_stock || !h_strike || !h_years || !h_call || !h_put) {
    fprintf(stderr, "BlackScholes: no host memory for 5 x %zu bytes\n", bytes);
    return EXIT_FAILURE;
  }

  if (fread(h_stock, sizeof(float), n, stockFile) != n ||
      fread(h_strike, sizeof(float), n, strikeFile) != n ||
      fread(h_years, sizeof(float), n, yearsFile) != n) {
    fprintf(stderr, "BlackScholes: an input file has fewer than %zu floats\n",
            n);
    return EXIT_FAILURE;
  }
  fclose(stockFile);
  fclose(strikeFile);
  fclose(yearsFile);

  float *d_stock, *d_strike, *d_years, *d_call, *d_put;
  CHECK(cudaMalloc(&d_stock, bytes));
  CHECK(cudaMalloc(&d_strike, bytes));
  CHECK(cudaMalloc(&d_years, bytes));
  CHECK(cudaMalloc(&d_call, bytes));
  CHECK(cudaMalloc(&d_put, bytes));

  CHECK(cudaMemcpy(d_stock, h_stock, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_strike, h_strike, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_years, h_years, bytes, cudaMemcpyHostToDevice));

  const int threads = 256;
  const size_t maxBlocks = 1 << 20;
  size_t blocks = (n + threads - 1) / threads;
  if (blocks > maxBlocks)
    blocks = maxBlocks;
  blackScholes<<<(unsigned)blocks, threads>>>(d_call, d_put, d_stock, d_strike,
                                              d_years, n, RiskFree, Volatility);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(h_call, d_call, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(h_put, d_put, bytes, cudaMemcpyDeviceToHost));

  if (fwrite(h_call, sizeof(float), n, callFile) != n ||
      fclose(callFile) != 0) {
    perror(argv[5]);
    return EXIT_FAILURE;
  }
  if (fwrite(h_put, sizeof(float), n, putFile) != n || fclose(putFile) != 0) {
    perror(argv[6]);
    return EXIT_FAILURE;
  }

  CHECK(cudaFree(d_stock));
  CHECK(cudaFree(d_strike));
  CHECK(cudaFree(d_years));
  CHECK(cudaFree(d_call));
  CHECK(cudaFree(d_put));
  free(h_stock);
  free(h_strike);
  free(h_years);
  free(h_call);
  free(h_put);
  printf("BlackScholes: priced %zu options\n", n);
  return EXIT_SUCCESS;
}
