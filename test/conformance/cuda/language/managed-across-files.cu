// __managed__ variables of other files, of host code and kernels.
// FLAGS: -rdc=true Inputs/managed.cu
// RUN: %conforms %s
#include "conformance.h"
#include "managed.h"

extern __managed__ Pair Both;
extern __device__ __managed__ int Table[8];
extern __managed__ int NeverUsed;
__managed__ int Back = 10;
static __managed__ int Own = 7;

__global__ void change() {
  Both.a *= 2;
  Both.b += Own;
}

int main() {
  REQUIRE(Both.a == 3 && Both.b == 1.5f && Table[2] == 3);
  fill<<<1, 8>>>();
  CHECK(cudaDeviceSynchronize());
  REQUIRE(Table[0] == 4 && Table[2] == 6 && Table[7] == 3);
  REQUIRE(Back == 15 && back() == 15 && own() == 5 && Own == 7);
  int *element = Table + 7;
  *element = 100;
  Both.a = 21;
  change<<<1, 1>>>();
  fill<<<1, 8>>>();
  CHECK(cudaDeviceSynchronize());
  REQUIRE(Both.a == 42 && Both.b == 8.5f && Table[7] == 142);
  return 0;
}
