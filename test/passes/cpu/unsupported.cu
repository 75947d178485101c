// What cannot run on the host is named at the user's line; the rest of the module
// is lowered, and reaching the construct ends the program with the same words.
// RUN: %clang -x cuda %s --cuda-path=%cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -g -Xclang -disable-llvm-passes -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' -S %t.bc -o %t.ll 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: FileCheck %s < %t.ll

__device__ void tensor(float *d, unsigned a) {
  // SAYS-DAG: warning: {{.*}}inline assembly 'wgmma.fence.sync.aligned' in 'tensor(float*, unsigned int)' cannot run on the host processor
  asm volatile("wgmma.fence.sync.aligned;");
  d[0] = a;
}

__global__ void uses(float *d) { tensor(d, 3); }

__global__ void fine(float *d) { d[threadIdx.x] = 1; }

__device__ int elsewhere(int);
__global__ void calls(int *d) {
  // SAYS-DAG: warning: {{.*}}the call of '_Z9elsewherei', whose code is not in this translation unit, in 'calls(int*)' cannot run
  d[0] = elsewhere(2);
}

extern __device__ int foreign;
__global__ void reads(int *d) {
  // SAYS-DAG: warning: {{.*}}the variable 'foreign' of another translation unit in 'reads(int*)' cannot run
  d[0] = foreign;
}

// CHECK-DAG: c"inline assembly 'wgmma.fence.sync.aligned' in 'tensor(float*, unsigned int)' ({{.*}}unsupported.cu:[[#@LINE-20]])\00"
// CHECK-DAG: ptr @_Z4finePf, i32 0, i32 0
// CHECK: call void @dragon_cpu_unsupported(ptr
// CHECK-NEXT: unreachable
