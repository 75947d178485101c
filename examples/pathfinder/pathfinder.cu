//===- pathfinder.cu - cheapest way through a grid, row by row ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dynamic programming: the cost of the cheapest way from any cell of the first
// row to each cell of the last, moving down or diagonally down by one column.
// A launch does Height rows: a block keeps its columns in shared memory, and
// Height more at each side, which become useless one row after the other. Two
// rows of results change roles after each launch; the wall streams by once.
//
//===----------------------------------------------------------------------===//
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

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

const int Block = 256;
const int Height = 8;
const int Useful = Block - 2 * Height; // columns a block gets right

__global__ void advance(const int *wall, const int *from, int *to, int cols,
                        int firstRow, int rows) {
  __shared__ int cost[Block];
  int x = threadIdx.x;
  int col = blockIdx.x * Useful + x - Height;
  bool inside = col >= 0 && col < cols;

  cost[x] = inside ? from[col] : INT_MAX;
  __syncthreads();
  for (int row = firstRow; row < firstRow + rows; ++row) {
    int best = cost[x];
    if (x > 0)
      best = min(best, cost[x - 1]);
    if (x < Block - 1)
      best = min(best, cost[x + 1]);
    __syncthreads();
    if (inside)
      cost[x] = best + wall[(size_t)row * cols + col];
    __syncthreads();
  }
  if (inside && x >= Height && x < Block - Height)
    to[col] = cost[x];
}

static int parseInt(const char *text, const char *what, int least) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < least || value > 1 << 30) {
    fprintf(stderr, "pathfinder: bad %s '%s'\n", what, text);
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

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: pathfinder ROWS COLS WALL OUT\n"
                    "reads ROWS x COLS ints, writes the COLS least costs\n");
    return EXIT_FAILURE;
  }
  int rows = parseInt(argv[1], "number of rows", 2);
  int cols = parseInt(argv[2], "number of columns", 1);
  size_t cells = (size_t)rows * cols;

  FILE *wallFile = openFile(argv[3], "rb");
  FILE *outFile = openFile(argv[4], "wb");

  int *h_wall = (int *)malloc(cells * sizeof(int));
  int *h_out = (int *)malloc(cols * sizeof(int));
  if (!h_wall || !h_out) {
    fprintf(stderr, "pathfinder: no host memory for %zu cells\n", cells);
    return EXIT_FAILURE;
  }
  if (fread(h_wall, sizeof(int), cells, wallFile) != cells) {
    fprintf(stderr, "pathfinder: cannot read %zu ints from %s\n", cells,
            argv[3]);
    return EXIT_FAILURE;
  }
  fclose(wallFile);

  int *d_wall, *d_from, *d_to;
  CHECK(cudaMalloc(&d_wall, cells * sizeof(int)));
  CHECK(cudaMalloc(&d_from, cols * sizeof(int)));
  CHECK(cudaMalloc(&d_to, cols * sizeof(int)));
  CHECK(
      cudaMemcpy(d_wall, h_wall, cells * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(
      cudaMemcpy(d_from, d_wall, cols * sizeof(int), cudaMemcpyDeviceToDevice));

  int blocks = (cols + Useful - 1) / Useful;
  for (int row = 1; row < rows; row += Height) {
    int todo = rows - row < Height ? rows - row : Height;
    advance<<<blocks, Block>>>(d_wall, d_from, d_to, cols, row, todo);
    CHECK(cudaGetLastError());
    std::swap(d_from, d_to);
  }

  CHECK(cudaMemcpy(h_out, d_from, cols * sizeof(int), cudaMemcpyDeviceToHost));
  if (fwrite(h_out, sizeof(int), cols, outFile) != (size_t)cols ||
      fclose(outFile) != 0) {
    perror(argv[4]);
    return EXIT_FAILURE;
  }

  CHECK(cudaFree(d_wall));
  CHECK(cudaFree(d_from));
  CHECK(cudaFree(d_to));
  free(h_wall);
  free(h_out);
  printf("pathfinder: %d rows of %d columns\n", rows, cols);
  return EXIT_SUCCESS;
}
