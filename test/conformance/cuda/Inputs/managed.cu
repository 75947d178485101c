// What managed-across-files.cu uses.
#include "managed.h"

__managed__ Pair Both = {3, 1.5f};
__device__ __managed__ int Table[8] = {1, 2, 3};
extern __managed__ int Back;
static __managed__ int Own = 5;

__global__ void fill() {
  Table[threadIdx.x] += Both.a;
  if (threadIdx.x == 0)
    Back += Own;
}

int own() { return Own; }
int back() { return Back; }
