// Tables of the host that are larger than constant memory: clang has them on the device as well, where no code refers to them.
// What device code refers to stays in constant memory.
// RUN: %cc -ptx -arch=sm_80 %s -o - | FileCheck %s --implicit-check-not=.const
// RUN: %cc -rdc=true -arch=sm_80 %s -o %t && env DRAGON_BACKEND=cpu %t
// RUN: %cc -ptx -arch=sm_80 -DROWS=100 %s -o - | FileCheck %s --check-prefix=SMALL
// CHECK-DAG: .visible .const .align 4 .b8 factors[8]
// CHECK-DAG: .visible .global .align 4 .b8 table[{{[0-9]+}}]
// CHECK-DAG: .visible .global .align 4 .b8 _ZN6Tables5staysE[400000]
// SMALL: .visible .const .align 4 .b8 table[2000]
#ifndef ROWS
#define ROWS 20000
#endif

struct Row {
  int degree;
  int values[4];
};
extern const Row table[];
const Row table[ROWS] = {{1, {2, 3}}, {2, {5, 7}}};

struct Tables {
  static const int stays[ROWS * 5];
};
const int Tables::stays[ROWS * 5] = {1};

__constant__ int factors[2] = {2, 3};
__global__ void kernel(int *out) { *out = factors[threadIdx.x]; }

int main() {
  int *out, result = 0;
  cudaMalloc(&out, sizeof(int));
  kernel<<<1, 1>>>(out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  return result != 2 || table[1].values[0] != 5 || Tables::stays[0] != 1;
}
