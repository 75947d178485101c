// RUN: dragon-summary %t.sm_90 'step: write read' 'half: read-write' 'whole: unknown'
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t -pass-remarks=dragon -pass-remarks-missed=dragon -o %t.ll 2> %t.remarks
// RUN: FileCheck %s < %t.ll && FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: %host-ir -O0 %s | %directives -dragon-summary=%t -o %t.ll && FileCheck %s < %t.ll
// RUN: %host-ir -O1 %s | %directives -dragon-summary=%t -dragon-wavefront=false | FileCheck %s --check-prefix=OFF
// OFF-NOT: __dragon_launch_follows

// Launches that another one follows at once are announced, to run together with it.
#include "cuda.h"

KERNEL2(step, float *, float *)
KERNEL1(half, float *)
KERNEL1(whole, float *)

int cudaGetLastError(void);
int cudaEventRecord(void *, cudaStream_t);
void fprintf(FILE *, const char *, ...);
extern FILE *stderr;
void elsewhere(void);
float sqrtf(float);

// What programs make of errors.
static void check(int error, const char *file, int line) {
  if (error) {
    fprintf(stderr, "%s:%d: %d\n", file, line, error);
    exit(1);
  }
}
#define CHECK(call) check(call, __FILE__, __LINE__)

// CHECK-LABEL: define {{.*}}@pingpong(
// CHECK: call void @__dragon_launch_follows()
// CHECK-NEXT: call void @__device_stub__step(ptr {{[a-z]* *}}[[A:%[0-9a-z]+]], ptr {{[a-z]* *}}[[B:%[0-9a-z]+]])
// CHECK: call void @__dragon_launch_follows()
// CHECK-NEXT: call void @__device_stub__step(ptr {{[a-z]* *}}[[B]], ptr {{[a-z]* *}}[[A]])
// CHECK: call i32 @cudaMemcpy(
// REMARK: launches-together.c:[[#@LINE+9]]:5: launch of 'step' may run together with the next, of 'step' at line [[#@LINE+9]], slice by slice where their data exceeds device memory: both may touch 'a', 'b'
void pingpong(size_t n, int steps, void *h) {
  float *a, *b;
  CHECK(cudaMalloc((void **)&a, n));
  CHECK(cudaMalloc((void **)&b, n));
  CHECK(cudaMemcpy(a, h, n, H2D));
  float dt = 1;
  for (int i = 0; i < steps; ++i) {
    dt = sqrtf(dt + i);
    LAUNCH(step, a, b);
    CHECK(cudaGetLastError());
    float *swap = a;
    a = b;
    b = swap;
  }
  CHECK(cudaMemcpy(h, a, n, D2H));
}

// The second is followed by nothing.
// CHECK-LABEL: define {{.*}}@straight(
// CHECK: call void @__dragon_launch_follows()
// CHECK-NEXT: call void @__device_stub__step(
// CHECK-NOT: __dragon_launch_follows
// CHECK: ret void
void straight(size_t n, void *h, cudaStream_t stream) {
  float *a, *b;
  cudaMalloc((void **)&a, n);
  cudaMalloc((void **)&b, n);
  cudaMemcpy(a, h, n, H2D);
  LAUNCH_ON(stream, step, b, a);
  LAUNCH_ON(stream, half, b);
  cudaMemcpy(h, b, n, D2H);
}

// What comes in between, and what cannot run in slices.
// CHECK-LABEL: define {{.*}}@apart(
// CHECK-NOT: __dragon_launch_follows
// CHECK: ret void
void apart(size_t n, void *h, const int *numbers, int *sum, cudaStream_t stream) {
  float *a;
  cudaMalloc((void **)&a, n);
  cudaMemcpy(a, h, n, H2D);
  // REMARK: launches-together.c:[[#@LINE+1]]:3: launch of 'half' does not run together with the next, of 'half' at line [[#@LINE+4]], although both may touch 'a': 'cudaDeviceSynchronize' at line [[#@LINE+2]] comes in between; do it after the last of the launches, or less often
  LAUNCH(half, a);
  cudaDeviceSynchronize();
  // REMARK: launches-together.c:[[#@LINE+1]]:3: {{.*}} 'cudaMemcpy' at line [[#@LINE+2]] comes in between
  LAUNCH(half, a);
  cudaMemcpy(h, a, n, D2H);
  // REMARK: launches-together.c:[[#@LINE+1]]:3: {{.*}} 'cudaEventRecord' at line [[#@LINE+2]] comes in between
  LAUNCH(half, a);
  cudaEventRecord(NULL, NULL);
  // REMARK: launches-together.c:[[#@LINE+1]]:3: {{.*}} 'elsewhere' at line [[#@LINE+2]] comes in between
  LAUNCH(half, a);
  elsewhere();
  // REMARK: launches-together.c:[[#@LINE+1]]:3: {{.*}} 'printf' at line [[#@LINE+2]] comes in between
  LAUNCH(half, a);
  printf("half\n");
  // REMARK: launches-together.c:[[#@LINE+1]]:3: {{.*}} a loop at line [[#@LINE+2]] comes in between
  LAUNCH(half, a);
  for (int i = 0; numbers[i]; ++i)
    *sum += numbers[i];
  // REMARK: launches-together.c:[[#@LINE+1]]:3: {{.*}} although both may touch 'a': their streams are not known to be the same
  LAUNCH(half, a);
  LAUNCH_ON(stream, half, a);
  // REMARK-NOT: 'whole'
  LAUNCH_ON(stream, whole, a);
  LAUNCH_ON(stream, half, a);
  cudaMemcpy(h, a, n, D2H);
}
