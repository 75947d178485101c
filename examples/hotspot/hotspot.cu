//===- hotspot.cu - heat diffusion on a chip ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Explicit time steps of the heat equation on a grid of ROWS x COLS cells that
// are heated by the power they consume and cooled by their surroundings: a
// five-point stencil, row-major, clamped at the borders, one launch a step. Two
// temperature buffers change roles after each step.
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

const float Conduction = 0.12f;
const float Heating = 0.05f;
const float Cooling = 0.002f;
const float Ambient = 45.0f;

__global__ void diffuse(const float *temp, const float *power, float *next,
                        int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols)
    return;

  int north = row > 0 ? row - 1 : 0;
  int south = row < rows - 1 ? row + 1 : rows - 1;
  int west = col > 0 ? col - 1 : 0;
  int east = col < cols - 1 ? col + 1 : cols - 1;

  size_t center = (size_t)row * cols + col;
  float t = temp[center];
  float flow = temp[(size_t)north * cols + col] +
               temp[(size_t)south * cols + col] +
               temp[(size_t)row * cols + west] +
               temp[(size_t)row * cols + east] - 4.0f * t;
  next[center] =
      t + Conduction * flow + Heating * power[center] - Cooling * (t - Ambient);
}

static int parseInt(const char *text, const char *what) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value <= 0 || value > 1 << 20) {
    fprintf(stderr, "hotspot: bad %s '%s'\n", what, text);
    exit(EXIT_FAILURE);
  }
  return (int)value;
}

static FILE *openFile(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  return file;
}

static void readGrid(float *grid, size_t cells, FILE *file, const char *path) {
  if (fread(grid, sizeof(float), cells, file) != cells) {
    fprintf(stderr, "hotspot: cannot read %zu floats from %s\n", cells, path);
    exit(EXIT_FAILURE);
  }
  fclose(file);
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: hotspot ROWS COLS STEPS TEMP POWER OUT\n"
                    "reads two grids of ROWS x COLS floats, writes the "
                    "temperature after STEPS steps\n");
    return EXIT_FAILURE;
  }
  int rows = parseInt(argv[1], "number of rows");
  int cols = parseInt(argv[2], "number of columns");
  int steps = parseInt(argv[3], "number of steps");
  size_t cells = (size_t)rows * cols;
  size_t bytes = cells * sizeof(float);

  FILE *tempFile = openFile(argv[4], "rb");
  FILE *powerFile = openFile(argv[5], "rb");
  FILE *outFile = openFile(argv[6], "wb");

  float *h_temp = (float *)malloc(bytes);
  float *h_power = (float *)malloc(bytes);
  float *h_out = (float *)malloc(bytes);
  if (!h_temp || !h_power || !h_out) {
    fprintf(stderr, "hotspot: no host memory for 3 x %zu bytes\n", bytes);
    return EXIT_FAILURE;
  }
  readGrid(h_temp, cells, tempFile, argv[4]);
  readGrid(h_power, cells, powerFile, argv[5]);

  float *d_temp, *d_next, *d_power;
  CHECK(cudaMalloc(&d_temp, bytes));
  CHECK(cudaMalloc(&d_next, bytes));
  CHECK(cudaMalloc(&d_power, bytes));
  CHECK(cudaMemcpy(d_temp, h_temp, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_power, h_power, bytes, cudaMemcpyHostToDevice));

  dim3 threads(32, 8);
  dim3 blocks((cols + threads.x - 1) / threads.x,
              (rows + threads.y - 1) / threads.y);
  if (blocks.y > 65535) {
    fprintf(stderr, "hotspot: too many rows\n");
    return EXIT_FAILURE;
  }
  for (int step = 0; step < steps; ++step) {
    diffuse<<<blocks, threads>>>(d_temp, d_power, d_next, rows, cols);
    float *swap = d_temp;
    d_temp = d_next;
    d_next = swap;
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(h_out, d_temp, bytes, cudaMemcpyDeviceToHost));
  if (fwrite(h_out, sizeof(float), cells, outFile) != cells) {
    perror(argv[6]);
    return EXIT_FAILURE;
  }
  if (fclose(outFile) != 0) {
    perror(argv[6]);
    return EXIT_FAILURE;
  }

  CHECK(cudaFree(d_temp));
  CHECK(cudaFree(d_next));
  CHECK(cudaFree(d_power));
  free(h_temp);
  free(h_power);
  free(h_out);
  printf("hotspot: %d steps on %d x %d cells\n", steps, rows, cols);
  return EXIT_SUCCESS;
}
