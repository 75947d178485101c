#include "kernel.h"

__global__ void fill(int *data) { data[threadIdx.x] = VALUE; }

int launch(int *data) {
  fill<<<1, 32>>>(data);
  return 0;
}
