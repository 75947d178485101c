// Memory that no buffer can be in is not part of a summary; what may be any
// memory makes the kernel touch anything.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// A tile in shared memory, a local array, constant and device variables.
__constant__ float weights[16];
__device__ int counter;
// CHECK-LABEL: kernel tiles, barriers{{$}}
// CHECK-NEXT:   a (argument 0): read
// CHECK-NEXT:     read exact 4 bytes at
// CHECK-NEXT:   b (argument 1): write
// CHECK-NEXT:     write exact 4 bytes at
// CHECK-NOT:      bytes
// CHECK-LABEL: kernel dynamic_shared
extern "C" __global__ void tiles(const float *a, float *b) {
  __shared__ float tile[256];
  float local[16];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[i];
  __syncthreads();
  for (int k = 0; k < 16; ++k)
    local[(k * 7 + i) % 16] = weights[k] * tile[(threadIdx.x + k) % 256];
  counter = 1;
  b[i] = local[i % 16];
}
extern __shared__ float dynamic[];
extern "C" __global__ void dynamic_shared(float *a) {
  dynamic[threadIdx.x] = 1;
  float *p = dynamic;
  a[threadIdx.x] = p[5];
}

// A pointer that is loaded from a buffer leads anywhere; the buffer is known.
// CHECK-LABEL: kernel loaded, touches anything{{$}}
// CHECK-NEXT:   rows (argument 0): read
// CHECK-NEXT:     read exact 8 bytes at 8*
extern "C" __global__ void loaded(float **rows, int col) {
  rows[blockIdx.x][col] = 1;
}
// So does one from a device variable, or a number.
__device__ float *hidden;
// CHECK-LABEL: kernel from_variable, touches anything{{$}}
extern "C" __global__ void from_variable() { hidden[threadIdx.x] = 1; }
// CHECK-LABEL: kernel from_number, touches anything{{$}}
extern "C" __global__ void from_number(unsigned long address) {
  *(float *)address = 1;
}
// A linked list in a buffer.
struct Node {
  Node *next;
  int value;
};
// CHECK-LABEL: kernel list, touches anything{{$}}
extern "C" __global__ void list(Node *head) {
  for (Node *n = head; n; n = n->next)
    n->value = 1;
}

// Code that is not there, or is chosen at run time.
extern "C" __device__ void elsewhere(float *a);
// CHECK-LABEL: kernel calls_elsewhere, touches anything{{$}}
// CHECK-NEXT:   a (argument 0): any access{{.*}}, escapes
extern "C" __global__ void calls_elsewhere(float *a) { elsewhere(a); }
// CHECK-LABEL: kernel calls_pointer, touches anything{{$}}
extern "C" __global__ void calls_pointer(void (*f)(int)) { f(1); }
// Recursion is not inlined: anywhere in what it is given.
static __device__ NOINLINE int depth(int *a, int n) {
  return n == 0 ? a[0] : depth(a + 1, n - 1) + depth(a + 2, n / 2);
}
// CHECK-LABEL: kernel recursive{{$}}
// CHECK-NEXT:   a (argument 0): read-write
extern "C" __global__ void recursive(int *a, int n) { a[n] = depth(a, n); }

// A pointer in memory can be picked up by later kernels; this one does not.
// CHECK-LABEL: kernel stores_pointer{{$}}
// CHECK-NEXT:   a (argument 0): not accessed, kept
// CHECK-NEXT:   slot (argument 1): write
extern "C" __global__ void stores_pointer(float *a, float **slot) {
  *slot = a;
}
// The same as a number.
// CHECK-LABEL: kernel stores_number{{$}}
// CHECK-NEXT:   a (argument 0): not accessed, kept
extern "C" __global__ void stores_number(float *a, unsigned long *slot) {
  *slot = (unsigned long)a + 4;
}
// What it reads and writes as well is known as before.
// CHECK-LABEL: kernel stores_and_uses{{$}}
// CHECK-NEXT:   a (argument 0): read-write{{.*}}, kept, read first
// CHECK-NEXT:     read exact 4 bytes at {{.*}}tid.x
// CHECK-NEXT:     write exact 4 bytes at 0
extern "C" __global__ void stores_and_uses(float *a, float **slot) {
  slot[0] = a;
  slot[1] = a + (int)a[threadIdx.x + 1];
  a[0] = 1;
}
// It follows what it may have stored.
// CHECK-LABEL: kernel stores_and_follows, touches anything{{$}}
extern "C" __global__ void stores_and_follows(float *a, float **slot) {
  slot[threadIdx.x] = a;
  *slot[threadIdx.x + 1] = 1;
}

// CHECK: note: loaded: follows a pointer that it loads from memory
// CHECK: note: calls_elsewhere: calls 'elsewhere', whose code is in another translation unit
// CHECK: note: recursive: 'a': is passed to a function that is not inlined
// CHECK: note: stores_pointer: 'a': is stored in memory
